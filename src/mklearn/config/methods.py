"""All methods that a study can name."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mklearn.config.feature_methods import MMC, PCA, Fisherface, LedoitWolfLDA, LinearSVC, NullSpaceLDA, ShrinkageLDA
from mklearn.config.image_methods import GLRAM, TwoDLDA, TwoDMMC
from mklearn.config.kernel_methods import MKLDR, MKMMC, KernelFDA, KernelLDE, KernelMMC, KernelPCA

MethodConfig = Annotated[
    KernelFDA | KernelLDE | KernelPCA | KernelMMC | MKLDR | MKMMC
    | PCA | MMC | Fisherface | NullSpaceLDA | LedoitWolfLDA | ShrinkageLDA | LinearSVC
    | GLRAM | TwoDLDA | TwoDMMC,
    Field(discriminator="kind"),
]  # fmt: skip

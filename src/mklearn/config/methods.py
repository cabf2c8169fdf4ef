"""All methods that a study can name."""

from __future__ import annotations

from mklearn.config.feature_methods import (
    MMC,
    PCA,
    Fisherface,
    LedoitWolfLDA,
    LinearSVC,
    NearestNeighbour,
    NullSpaceLDA,
    ShrinkageLDA,
)
from mklearn.config.image_methods import GLRAM, TwoDLDA, TwoDMMC
from mklearn.config.kernel_methods import (
    MKLDR,
    MKMMC,
    ConvexMKLDR,
    EmbeddedLinearSVC,
    KernelFDA,
    KernelLDE,
    KernelMMC,
    KernelPCA,
    KernelRidge,
    KernelSAMME,
    KernelVoting,
    LeaveOneOutMKL,
)
from mklearn.config.method_base import Method

METHODS: tuple[type[Method], ...] = (
    KernelFDA, KernelLDE, KernelPCA, KernelMMC, MKLDR, MKMMC, ConvexMKLDR, LeaveOneOutMKL,
    KernelVoting, KernelSAMME, KernelRidge, EmbeddedLinearSVC,
    PCA, MMC, Fisherface, NullSpaceLDA, NearestNeighbour, LedoitWolfLDA, ShrinkageLDA, LinearSVC,
    GLRAM, TwoDLDA, TwoDMMC,
)  # fmt: skip

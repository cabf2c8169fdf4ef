"""All methods that a study can name."""

from __future__ import annotations

from mklearn.bilinear import models as bilinear
from mklearn.classifiers import models as classifiers
from mklearn.contract.method import Method
from mklearn.subspace import models as subspace

METHODS: tuple[type[Method], ...] = (
    subspace.KernelFDA,
    subspace.KernelLDE,
    subspace.KernelPCA,
    subspace.KernelMMC,
    subspace.MKLDR,
    subspace.MKMMC,
    subspace.ConvexMKLDR,
    subspace.LeaveOneOutMKL,
    classifiers.KernelVoting,
    classifiers.KernelSAMME,
    classifiers.KernelRidge,
    classifiers.EmbeddedLinearSVC,
    subspace.PCA,
    subspace.MMC,
    subspace.Fisherface,
    subspace.NullSpaceLDA,
    classifiers.NearestNeighbour,
    classifiers.LedoitWolfLDA,
    classifiers.ShrinkageLDA,
    classifiers.LinearSVC,
    bilinear.GLRAM,
    bilinear.TwoDLDA,
    bilinear.TwoDMMC,
)
"""mklearn's own methods: a new method adds its line here."""

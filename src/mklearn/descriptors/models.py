"""Bases of the models of descriptors. Their own fields are parameters of the functions, see :mod:`mklearn.cards`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from mklearn.contract.model import Count, NonNegative, Positive, Registered, Slug
from mklearn.contract.specs import FeatureType


class Descriptor(Registered):
    """The model of a descriptor.

    Its implementation takes images and the parameters, and with ``learns`` also ``learned``: a dict of arrays.
    """

    measure: ClassVar[str] = "squared_euclidean"
    """Distance of Gaussian kernels that name none."""
    family: ClassVar[str] = "images"
    """Kind of data that it is computed from: images or tables."""
    learns: ClassVar[str] = ""
    """``module:function`` that learns visual words, patches or principal components from the images first."""
    point_sets: ClassVar[bool] = False
    """Whether it gives a set of points for each image, instead of a vector."""
    images_per_job: ClassVar[int] = 0
    """Images per job, for expensive descriptors; 0: all images in one job."""
    one_size: ClassVar[bool] = False
    """Whether all images need one size."""

    dtype: FeatureType = "float64"
    """Type of the features in files and methods; float32 takes half the memory and has seven digits."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that the implementation is called with."""
        return {name: value for name, value in super().parameters().items() if name != "dtype"}

    def specification(self) -> dict[str, Any]:
        """Return the implementation with its parameters, and the type of features where it is not the default."""
        given = super().specification()
        return given if self.dtype == "float64" else given | {"dtype": self.dtype}

    def mistake_for(self, shape: Sequence[int]) -> str:
        """Return what is wrong with the parameters for images of a shape, (rows, columns, ...); "" where nothing is."""
        return ""

    def needs_one_size(self) -> bool:
        """Return whether all images need one size."""
        return self.one_size

    def distance(self) -> dict[str, Any]:
        """Return the parameters of the distance between sets of points."""
        return {}

    def seconds_per_pair(self) -> float:
        """Estimate the CPU seconds of that distance for a pair; 0: next to nothing."""
        return 0.0


class ChannelDescriptor(Descriptor):
    """The model of a descriptor of grey images, or of each channel of images in colour."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters without ``channels: grey``, which results had no name for."""
        given = super().parameters()
        return {name: value for name, value in given.items() if (name, value) != ("channels", "grey")}


class PatchGrid(Descriptor):
    """The model of a descriptor by patches of a grid, all or one of them."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"grid"})

    patch: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]] | Literal["each"] | None = None
    """Row and column of one patch of the grid, from 0; by default all of them. ``each`` makes a descriptor of each
    patch: ``NAME-0-0``, ``NAME-0-1``, ..., which kernels name ``NAME-*``."""
    grid: tuple[Count, Count] | None = None
    """Rows and columns of patches, for ``patch: each``."""

    if TYPE_CHECKING:  # a parameter of the descriptors themselves
        size: int

    @model_validator(mode="after")
    def _a_grid_of_each(self) -> PatchGrid:
        if (self.patch == "each" and self.grid is None) or (self.patch is None and self.grid is not None):
            raise ValueError("patch: each and grid: [rows, columns] need each other.")
        return self

    def needs_one_size(self) -> bool:
        """Return whether all patches are taken: one is in images of any size."""
        return self.patch is None

    def mistake_for(self, shape: Sequence[int]) -> str:
        """Return whether the grid is another one than that of the images."""
        there = (shape[0] // self.size, shape[1] // self.size)
        if self.grid is None or tuple(self.grid) == there:
            return ""
        return f"grid {list(self.grid)}: images of {shape[0]} x {shape[1]} pixels have {list(there)} patches."


class PointSetDescriptor(Descriptor):
    """The model of a descriptor that gives a set of points for each image, in place of a vector."""

    measure = "point_set"
    point_sets = True
    bookkeeping: ClassVar[frozenset[str]] = frozenset({"position_weight", "position_scale"})

    if TYPE_CHECKING:  # parameters of the descriptors themselves
        n_points: int
        n_components: int
    position_weight: NonNegative = 0.25
    """What a distance of ``position_scale`` pixels between two points adds to the distance of their descriptors."""
    position_scale: Positive = 270.0
    """The distance in pixels at which the positions of two points add ``position_weight``."""

    @field_validator("dtype")
    @classmethod
    def _of_vectors(cls, dtype: FeatureType) -> FeatureType:
        if dtype == cls.model_fields["dtype"].default:  # in the record of a run, which has every field
            return dtype
        raise ValueError(f"invalid value {dtype!r}: sets of points have a type of their own; omit dtype.")

    def distance(self) -> dict[str, Any]:
        """Return the parameters of the distance between sets of points."""
        return {"position_weight": self.position_weight, "position_scale": self.position_scale}

    def seconds_per_pair(self) -> float:
        """Estimate the CPU seconds for sets with all their points.

        ``2 p^2 d`` operations at 60 thousand millions a second and 0.3 ns for each of the ``p^2`` minima: within a
        factor of two on processors of the years 2018 to 2024.
        """
        return self.n_points**2 * (2 * self.n_components / 60e9 + 0.3e-9)


class Table(Descriptor):
    """A table of the user's own features."""

    title = "Table of features"
    family = "tables"

    kind: Literal["table"]
    table: Slug
    """Name of the table in the data set."""

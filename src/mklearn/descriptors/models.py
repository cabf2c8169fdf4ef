"""Models of the descriptors that a study can name: representations of a sample."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from mklearn.contract.model import Count, NonNegative, Positive, Registered, Slug
from mklearn.contract.specs import FeatureType
from mklearn.kernels.costs import point_set_seconds_per_pair


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

    dtype: FeatureType = "float64"
    """Type of the features in files and methods; float32 takes half the memory and has seven digits."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that the implementation is called with."""
        return {name: value for name, value in super().parameters().items() if name != "dtype"}

    def specification(self) -> dict[str, Any]:
        """Return the implementation with its parameters, and the type of features where it is not the default."""
        given = super().specification()
        return given if self.dtype == "float64" else given | {"dtype": self.dtype}

    def distance(self) -> dict[str, Any]:
        """Return the parameters of the distance between sets of points."""
        return {}

    def seconds_per_pair(self) -> float:
        """Return the rough cost of that distance; 0: low enough for one job."""
        return 0.0


class Pixels(Descriptor):
    """The image itself, row by row."""

    title = "Raw pixels"
    implementation = "mklearn.descriptors.pixels:pixels"

    kind: Literal["pixels"]
    norm: Literal["none", "l2"] = "none"
    """Divide every image by its Euclidean length."""


class Multiresolution(Descriptor):
    """Means over grids of blocks."""

    title = "Block means at several resolutions"
    reference = "Gonen, Alpaydin 2008"
    implementation = "mklearn.descriptors.multiresolution:multiresolution"

    kind: Literal["multiresolution"]
    resolutions: Annotated[list[Count], Field(min_length=1)] = [4, 8, 16]
    """Blocks per side."""


class Patches(Descriptor):
    """Non-overlapping patches, all or one of them."""

    title = "Patches"
    reference = "Gonen, Alpaydin 2008"
    implementation = "mklearn.descriptors.patches:patches"
    bookkeeping: ClassVar[frozenset[str]] = frozenset({"grid"})

    kind: Literal["patches"]
    size: Count
    """Pixels per side of a patch."""
    patch: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]] | Literal["each"] | None = None
    """Row and column of one patch of the grid, from 0; by default all of them. ``each`` makes a descriptor of each
    patch: ``NAME-0-0``, ``NAME-0-1``, ..., which kernels name ``NAME-*``."""
    grid: tuple[Count, Count] | None = None
    """Rows and columns of patches, for ``patch: each``."""
    statistics: Literal["pixels", "mean_std"] = "pixels"

    @model_validator(mode="after")
    def _a_grid_of_each(self) -> Patches:
        if (self.patch == "each") != (self.grid is not None):
            raise ValueError("patch: each and grid: [rows, columns] need each other.")
        return self


class HOG(Descriptor):
    """Histograms of oriented gradients."""

    title = "HOG"
    reference = "Dalal, Triggs 2005"
    implementation = "mklearn.descriptors.hog:hog"

    kind: Literal["hog"]
    orientations: Count = 9
    cell: Count = 8
    """Pixels per side of a cell."""
    block: Count = 2
    """Cells per side of a block."""
    block_norm: Literal["L2-Hys", "L2", "L1", "L1-sqrt"] = "L2-Hys"


class PHOG(Descriptor):
    """Pyramid histograms of orientations on edges."""

    title = "PHOG"
    reference = "Bosch, Zisserman, Munoz 2007"
    implementation = "mklearn.descriptors.phog:phog"
    measure = "chi2"

    kind: Literal["phog"]
    levels: Annotated[int, Field(ge=1, le=6)] = 3
    """Levels of the pyramid, from the whole image on."""
    bins: Count = 20
    angle: Literal[180, 360] = 180
    """Range of orientations: 180 ignores the gradient's sign."""
    sigma: Positive = 2**0.5
    """Width of the Gaussian before edge detection, in pixels."""


class LBP(Descriptor):
    """Histograms of local binary patterns."""

    title = "LBP"
    reference = "Ojala, Pietikainen, Maenpaa 2002; Ahonen, Hadid, Pietikainen 2006"
    implementation = "mklearn.descriptors.lbp:lbp"
    measure = "chi2"

    kind: Literal["lbp"]
    grid: Count = 4
    """Cells per side."""
    radius: Count = 1
    """Distance of the neighbours, in pixels."""
    patterns: Literal["uniform", "rotation_invariant"] = "uniform"


class PointSetDescriptor(Descriptor):
    """Local descriptors at edge points, projected on their principal axes: a set of points for each image."""

    measure = "point_set"
    point_sets = True
    images_per_job = 512
    bookkeeping: ClassVar[frozenset[str]] = frozenset({"position_weight", "position_scale"})

    n_points: Count = 160
    """Edge points per image, at most."""
    n_components: Count = 64
    """Principal components of the local descriptors that are kept."""
    position_weight: NonNegative = 0.25
    """What a distance of ``position_scale`` pixels between two points adds to the distance of their descriptors."""
    position_scale: Positive = 270.0

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
        """Return the cost for sets with all their points."""
        return point_set_seconds_per_pair(self.n_points, self.n_components)


class GeometricBlur(PointSetDescriptor):
    """Oriented edges around edge points, blurred more with the distance from the point."""

    title = "Geometric blur"
    reference = "Berg, Malik 2001; Zhang, Berg, Maire, Malik 2006"
    implementation = "mklearn.descriptors.geometric_blur:geometric_blur"
    learns = "mklearn.descriptors.geometric_blur:learn_geometric_blur"

    kind: Literal["geometric_blur"]
    radii: Annotated[list[NonNegative], Field(min_length=1)] = [0, 3, 6, 12, 24, 36]
    """Rings that are sampled, in pixels."""
    samples: Annotated[list[Count], Field(min_length=1)] = [1, 8, 8, 10, 12, 12]
    """Samples on each ring."""


class SIFTPoints(PointSetDescriptor):
    """Histograms of gradients around edge points."""

    title = "SIFT at edge points"
    reference = "Lowe 2004; Zhang, Berg, Maire, Malik 2006"
    implementation = "mklearn.descriptors.sift:sift_points"
    learns = "mklearn.descriptors.sift:learn_sift_points"

    kind: Literal["sift_points"]
    size: Positive = 48.0
    """Pixels per side of the patch around a point."""


class DenseSIFT(Descriptor):
    """Histograms of visual words on a grid."""

    title = "SIFT words on a grid"
    reference = "Lazebnik, Schmid, Ponce 2006"
    implementation = "mklearn.descriptors.dense_sift:dense_sift"
    learns = "mklearn.descriptors.dense_sift:learn_dense_sift"
    measure = "chi2"
    images_per_job = 512

    kind: Literal["dense_sift"]
    step: Count = 8
    """Pixels between neighbouring patches."""
    sizes: Annotated[list[Positive], Field(min_length=1)] = [16, 24, 32]
    """Pixels per side of the patches."""
    n_words: Annotated[int, Field(ge=2)] = 1000


class SIFTGrid(Descriptor):
    """SIFT descriptors at the points of a grid, one after the other: for aligned images."""

    title = "SIFT at fixed points"
    reference = "Lowe 2004"
    implementation = "mklearn.descriptors.sift_grid:sift_grid"

    kind: Literal["sift_grid"]
    step: Count = 16
    """Pixels between neighbouring points."""
    size: Annotated[float, Field(ge=4, le=1024)] = 24.0
    """Pixels per side of the patch around a point."""


class C2Serre(Descriptor):
    """Best match of patches of oriented edges anywhere in the image."""

    title = "C2 (Serre, Wolf, Poggio)"
    reference = "Serre, Wolf, Poggio 2005"
    implementation = "mklearn.descriptors.c2_serre:c2_serre"
    learns = "mklearn.descriptors.c2_serre:learn_c2_serre"
    images_per_job = 512

    kind: Literal["c2_serre"]
    n_patches: Count = 1000


class C2MutchLowe(Descriptor):
    """Best match of sparse patches of oriented edges near their original position."""

    title = "C2 (Mutch, Lowe)"
    reference = "Mutch, Lowe 2006"
    implementation = "mklearn.descriptors.c2_mutch_lowe:c2_mutch_lowe"
    learns = "mklearn.descriptors.c2_mutch_lowe:learn_c2_mutch_lowe"
    images_per_job = 512

    kind: Literal["c2_mutch_lowe"]
    n_patches: Count = 2040
    inhibition: Annotated[float, Field(ge=0, le=1)] = 0.5
    """How much of the responses of weak orientations is suppressed."""


class Table(Descriptor):
    """A table of the user's own features."""

    title = "Table of features"
    family = "tables"

    kind: Literal["table"]
    table: Slug
    """Name of the table in the data set."""


DESCRIPTORS: tuple[type[Descriptor], ...] = (
    Pixels, Multiresolution, Patches, HOG, PHOG, LBP, GeometricBlur, SIFTPoints, DenseSIFT, SIFTGrid, C2Serre,
    C2MutchLowe, Table,
)  # fmt: skip


def image_descriptors(side: int | None = None) -> dict[str, Descriptor]:
    """Return the descriptors of images in a study that names none; cells and blocks follow the shorter side."""
    side = side or 64
    resolutions = [r for r in (2, 4, 8, 16) if r <= side // 2][-3:] or [1]
    return {
        "pixels": Pixels(kind="pixels"),
        "blocks": Multiresolution(kind="multiresolution", resolutions=resolutions),
        "hog": HOG(kind="hog", cell=max(1, min(8, side // 4))),
        "phog": PHOG(kind="phog"),
        "lbp": LBP(kind="lbp"),
    }

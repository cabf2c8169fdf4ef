"""Descriptors: representations of a sample. One model per descriptor, with its reference and the code behind it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from mklearn.config.base import Registered, Slug

Count = Annotated[int, Field(ge=1)]


class DescriptorBase(Registered):
    """What every descriptor has."""

    measure: ClassVar[str] = "squared_euclidean"
    """The distance that suits it when a kernel names none."""
    family: ClassVar[str] = "images"
    """What it is computed from."""


class Pixels(DescriptorBase):
    """The image itself, row by row."""

    title = "Raw pixels"
    implementation = "mklearn.descriptors.pixels:pixels"

    kind: Literal["pixels"]
    norm: Literal["none", "l2"] = "none"
    """Divide every image by its Euclidean length, or not."""


class Multiresolution(DescriptorBase):
    """Means over grids of blocks."""

    title = "Block means at several resolutions"
    reference = "Gonen, Alpaydin 2008"
    implementation = "mklearn.descriptors.multiresolution:multiresolution"

    kind: Literal["multiresolution"]
    resolutions: Annotated[list[Count], Field(min_length=1)] = [4, 8, 16]
    """Blocks per side."""


class Patches(DescriptorBase):
    """Non-overlapping patches, all or one of them."""

    title = "Patches"
    reference = "Gonen, Alpaydin 2008"
    implementation = "mklearn.descriptors.patches:patches"

    kind: Literal["patches"]
    size: Count
    """Pixels per side of a patch."""
    patch: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]] | None = None
    """Row and column of one patch of the grid, from 0; by default all of them."""
    statistics: Literal["pixels", "mean_std"] = "pixels"


class HOG(DescriptorBase):
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


class PHOG(DescriptorBase):
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
    sigma: Annotated[float, Field(gt=0)] = 2**0.5
    """Width of the Gaussian before edge detection, in pixels."""


class LBP(DescriptorBase):
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


class Table(DescriptorBase):
    """A table of the user's own features."""

    title = "Table of features"
    family = "tables"

    kind: Literal["table"]
    table: Slug
    """Name of the table in the data set."""


DescriptorConfig = Annotated[Pixels | Multiresolution | Patches | HOG | PHOG | LBP | Table, Field(discriminator="kind")]


def image_descriptors(side: int | None = None) -> dict[str, dict[str, object]]:
    """What images get when a study names no descriptors: cells and blocks follow the shorter side."""
    side = side or 64
    return {
        "pixels": {"kind": "pixels"},
        "blocks": {"kind": "multiresolution", "resolutions": [r for r in (2, 4, 8, 16) if r <= side // 2][-3:] or [1]},
        "hog": {"kind": "hog", "cell": max(1, min(8, side // 4))},
        "phog": {"kind": "phog"},
        "lbp": {"kind": "lbp"},
    }

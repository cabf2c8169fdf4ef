"""Table of the image descriptors that a study can name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from mklearn.rows import Row

TABLE = "table"
"""Kind of a descriptor that is a table of the data set."""


@dataclass(frozen=True)
class DescriptorRow(Row):
    """Description of a descriptor for studies: a function of images, and of ``learned`` arrays if it learns."""

    measure: str = "squared_euclidean"
    """Default distance of Gaussian kernels; "point_set" for sets of points."""
    learns: str = ""
    """``module:function`` that learns visual words, patches or principal components from the images first."""
    one_size: bool = False
    """True if each feature belongs to a place in the image, so that all images need one size."""
    grid: bool = False
    """True for patches of a grid, of which a study may take one, or each as a descriptor of its own."""

    @property
    def point_sets(self) -> bool:
        """True if the descriptor gives a set of points for each image, instead of a vector."""
        return self.measure == "point_set"


_point_sets = partial(DescriptorRow, measure="point_set", defaults={"n_points": 160, "n_components": 64})

DESCRIPTORS: dict[str, DescriptorRow] = {
    "colour_histogram": DescriptorRow(
        "mklearn.descriptors.colour_histogram:colour_histogram",
        "Colour histogram (HSV)",
        reference="Swain, Ballard 1991; Nilsback, Zisserman 2006",
        advice="Photographs whose classes differ in colour: flowers, materials, tissue. Not for grey images.",
        measure="chi2",
    ),
    "dense_sift": DescriptorRow(
        "mklearn.descriptors.dense_sift:dense_sift",
        "SIFT words on a grid",
        reference="Lazebnik, Schmid, Ponce 2006",
        measure="chi2",
        learns="mklearn.descriptors.dense_sift:learn_dense_sift",
    ),
    "geometric_blur": _point_sets(
        "mklearn.descriptors.geometric_blur:geometric_blur",
        "Geometric blur",
        reference="Berg, Malik 2001; Zhang, Berg, Maire, Malik 2006",
        learns="mklearn.descriptors.geometric_blur:learn_geometric_blur",
    ),
    "hog": DescriptorRow("mklearn.descriptors.hog:hog", "HOG", reference="Dalal, Triggs 2005", one_size=True),
    "lbp": DescriptorRow(
        "mklearn.descriptors.lbp:lbp",
        "LBP",
        reference="Ojala, Pietikainen, Maenpaa 2002; Ahonen, Hadid, Pietikainen 2006",
        measure="chi2",
    ),
    "multiresolution": DescriptorRow(
        "mklearn.descriptors.multiresolution:multiresolution",
        "Block means at several resolutions",
        reference='Gonen, Alpaydin 2009, "Localized Multiple Kernel Machines for Image Recognition"',
    ),
    "patches": DescriptorRow(
        "mklearn.descriptors.patches:patches",
        "Patches",
        reference='Gonen, Alpaydin 2009, "Localized Multiple Kernel Machines for Image Recognition"',
        one_size=True,
        grid=True,
    ),
    "phog": DescriptorRow(
        "mklearn.descriptors.phog:phog", "PHOG", reference="Bosch, Zisserman, Munoz 2007", measure="chi2"
    ),
    "pixels": DescriptorRow("mklearn.descriptors.pixels:pixels", "Raw pixels", one_size=True),
    "sift_points": _point_sets(
        "mklearn.descriptors.sift:sift_points",
        "SIFT at edge points",
        reference="Lowe 2004; Zhang, Berg, Maire, Malik 2006",
        learns="mklearn.descriptors.sift:learn_sift_points",
    ),
    "sift_grid": DescriptorRow(
        "mklearn.descriptors.sift:sift_grid", "SIFT at fixed points", reference="Lowe 2004", one_size=True
    ),
    "c2_mutch_lowe": DescriptorRow(
        "mklearn.papers.mkl_dr.c2:c2_mutch_lowe",
        "C2 (Mutch, Lowe)",
        reference="Mutch, Lowe 2006",
        learns="mklearn.papers.mkl_dr.c2:learn_c2_mutch_lowe",
    ),
    "c2_serre": DescriptorRow(
        "mklearn.papers.mkl_dr.c2:c2_serre",
        "C2 (Serre, Wolf, Poggio)",
        reference="Serre, Wolf, Poggio 2005",
        learns="mklearn.papers.mkl_dr.c2:learn_c2_serre",
    ),
    TABLE: DescriptorRow(title="Table of features"),
}

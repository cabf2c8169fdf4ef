"""Figures 3, 4 and 6 of the paper: maps of MKL's weights, and of gates from several starts, over image patches.

No image of a data set is drawn. Softmax gates may differ between starts: do not interpret a single start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.classifiers import LMKLSVC, MKLSVC
from mklearn.descriptors.multiresolution import multiresolution
from mklearn.descriptors.patches import patches
from mklearn.kernels import Views
from mklearn.papers.lmkl.gauss4_figure import AS_PUBLISHED
from mklearn.study.data.draw_splits import validation_folds
from mklearn.study.data.samples import SampleSet
from mklearn.study.report.charts import LIGHT, Chart, field
from mklearn.study.report.parts import PartFigure, ReportPart, StudyResults

Floats = NDArray[np.floating[Any]]
Rows = list[dict[str, Any]]

STARTS = 3
CELL = 22
"""Pixels per side of a patch in a map."""
PENALTY = {"softmax": 10.0, "sigmoid": 0.1}
"""Value of C that most models in the tables choose, by gate."""


def weight_maps(results: StudyResults) -> ReportPart:
    """Draw MKL's weights over patches of ``faces`` (Olivetti), and gates over patches of these and of ``digits``."""
    faces, digits = results.dataset("faces"), results.dataset("digits")
    of_faces = validation_folds(faces.y, groups=faces.groups, test_size=2, folds=8, in_order=True, first_seed=1000)
    of_digits = validation_folds(digits.y, groups=digits.groups, test_share=1 / 3, folds=2, deals=5, first_seed=500)
    train = {"Olivetti": of_faces[0].train, "USPS": of_digits[0].train}
    shown = {
        "Olivetti": [i for code in (0, 1) for i in np.flatnonzero(faces.y == code)[[0, 39]]],
        "USPS": [i for code in (0, 1) for i in np.flatnonzero(digits.y == code)[[0, -1]]],
    }
    drawn = partial(mkl_weights, faces, train["Olivetti"])
    figures = [PartFigure("MKL weights, Olivetti", "Squares: weight of each patch of an image.", drawn)]
    for name, samples, size in (("Olivetti", faces, 8), ("USPS", digits, 4)):
        for gate in PENALTY:
            drawn = partial(gate_maps, samples, train[name], shown[name], size=size, gate=gate, name=name)
            alt = "Squares: gate of each patch, a row for each image and a column for each start."
            figures.append(PartFigure(f"Gates, {gate}, {name}", alt, drawn))
    return ReportPart(figures=figures)


def mkl_weights(faces: SampleSet, train: NDArray[np.intp]) -> Chart:
    """Draw MKL's weights over the 64 patches of a face."""
    features, kernels = patch_features(np.asarray(faces.images), 8)
    model = MKLSVC(kernels=kernels, C=10).fit(Views({"patches": features[train]}), faces.y[train])
    return heat_map(
        grid_rows(model.kernel_weights_), 8, title="MKL weights of 8 x 8 patches",
        subtitle="Olivetti, women against men, first model of the first draw, C = 10; duality gap "
        f"{model.certificate_['gap']:.0e}",
    )  # fmt: skip


def gate_maps(
    samples: SampleSet, train: NDArray[np.intp], shown: Sequence[int], *, size: int, gate: str, name: str
) -> Chart:
    """Draw the gates of some samples over patches: a row for each sample, a column for each start."""
    images, C = np.asarray(samples.images), PENALTY[gate]
    side = images.shape[1] // size
    features, kernels = patch_features(images, size)
    views = Views({"patches": features, "gates": multiresolution(images, resolutions=[side])})
    labels = [f"{samples.labels[i]}, {samples.ids[i]}" for i in shown]
    rows: Rows = []
    for start in range(STARTS):
        model = LMKLSVC(kernels=kernels, gating="gates", gate=gate, C=C, random_state=start)
        model.fit(views[train], samples.y[train])
        for label, gates in zip(labels, model.localized_weights(views[list(shown)]), strict=True):
            rows += grid_rows(gates, sample=label, start=f"start {start + 1}")
    facets = {
        "row": {"field": "sample", "title": None, "sort": labels, "header": {"labelAngle": 0, "labelAlign": "left"}},
        "column": {"field": "start", "title": None},
    }
    return heat_map(
        rows, side, title=f"{gate.capitalize()} gates over {size} x {size} patches", subtitle=f"{name}, C = {C:g}",
        facets=facets,
    )  # fmt: skip


def patch_features(images: Floats, size: int) -> tuple[Floats, list[dict[str, Any]]]:
    """Return the pixels of all patches, patch by patch, and a linear kernel of each."""
    features = patches(images, size=size)
    kernels = [
        {"kind": "linear", "view": "patches", "columns": slice(start, start + size**2), **AS_PUBLISHED}
        for start in range(0, features.shape[1], size**2)
    ]
    return features, kernels


def grid_rows(values: Floats, **labels: Any) -> Rows:
    """Return one row per patch of a square grid, with its value as a share of the largest."""
    side = round(len(values) ** 0.5)
    shares = values / values.max()
    return [labels | {"r": n // side, "c": n % side, "v": round(float(share), 4)} for n, share in enumerate(shares)]


def heat_map(rows: Rows, side: int, *, title: str, subtitle: str, facets: Mapping[str, Any] | None = None) -> Chart:
    """Return a chart of maps over patches, darker for larger values."""
    place, scale = {"type": "ordinal", "axis": None}, {"domain": [0, 1], "range": ["#f4f5f7", LIGHT.colours[0]]}
    encoding = {
        "x": {"field": "c", **place},
        "y": {"field": "r", **place},
        "color": field("v:Q", scale=scale, legend={"title": "share of the largest"}),
    }
    chart = {"mark": {"type": "rect"}, "width": CELL * side, "height": CELL * side, "encoding": encoding}
    named: Chart = {"title": {"text": title, "subtitle": subtitle}, "data": {"values": rows}}
    return named | ({"facet": dict(facets), "spec": chart} if facets else chart)

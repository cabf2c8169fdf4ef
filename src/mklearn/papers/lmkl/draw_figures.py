"""Draw what kernel weights and gates look like: MKL weights over patches, gates of several starts, and GAUSS4.

    MKLEARN_MIRROR=path/to/mirror python -m mklearn.papers.lmkl.draw_figures FOLDER

Needs the files of the data sets ``olivetti-gender`` and ``usps-3-vs-58`` in the mirror. No picture of a data set is
drawn. Gates of softmax may differ between starts: never read those of a single one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.classifiers import LMKLSVC, MKLSVC
from mklearn.descriptors.multiresolution import multiresolution
from mklearn.descriptors.patches import patches
from mklearn.papers.lmkl import gauss4
from mklearn.study.data.grouped_splits import validation_folds
from mklearn.study.data.read import read_dataset
from mklearn.study.data.registry import dataset_spec, entry
from mklearn.study.data.samples import SampleSet
from mklearn.study.report.rendering import write_figure
from mklearn.study.report.theme import LIGHT, vega_config

Floats = NDArray[np.floating[Any]]
Rows = list[dict[str, Any]]

AS_PUBLISHED = {"feature_scaling": "standard", "normalise": "unit_diagonal", "centre": False, "psd": "none"}
"""The kernels of the authors' code: standardised features, then samples of length 1."""
LINEAR_AND_QUADRATIC = [
    {"kind": "linear", **AS_PUBLISHED},
    {"kind": "polynomial", "degree": 2, "scale": 1.0, "offset": 1.0, **AS_PUBLISHED},
]
STARTS = 3
CELL = 22
"""Pixels per side of a patch in a map."""


def read(name: str) -> SampleSet:
    """Read a registered data set from the mirror."""
    mirror, known = Path(os.environ["MKLEARN_MIRROR"]), entry(name)
    files = {file.name: mirror / str(file.mirror) for file in known.packaging(str(mirror))}
    return read_dataset(dataset_spec({"name": name}), files)


def patch_features(images: Floats, size: int) -> tuple[Floats, list[dict[str, Any]]]:
    """Return the pixels of all patches, patch by patch, and a linear kernel of each."""
    features = patches(images, size=size)
    kernels = [
        {"kind": "linear", "columns": slice(start, start + size**2), **AS_PUBLISHED}
        for start in range(0, features.shape[1], size**2)
    ]
    return features, kernels


def grid_rows(values: Floats, **labels: Any) -> Rows:
    """Return one row for each patch of a square grid, as a share of the largest value."""
    side = round(len(values) ** 0.5)
    shares = values / values.max()
    return [labels | {"r": n // side, "c": n % side, "v": round(float(share), 4)} for n, share in enumerate(shares)]


def heat_map(rows: Rows, side: int, *, title: str, subtitle: str, facets: Mapping[str, Any] | None = None) -> Any:
    """Return maps over patches: the larger the value, the darker."""
    place = {"type": "ordinal", "axis": None}
    chart = {
        "mark": {"type": "rect"},
        "width": CELL * side,
        "height": CELL * side,
        "encoding": {
            "x": {"field": "c", **place},
            "y": {"field": "r", **place},
            "color": {
                "field": "v",
                "type": "quantitative",
                "scale": {"domain": [0, 1], "range": ["#f4f5f7", LIGHT.colours[0]]},
                "legend": {"title": "share of the largest"},
            },
        },
    }
    named = {"title": {"text": title, "subtitle": subtitle}, "data": {"values": rows}}
    return named | ({"facet": dict(facets), "spec": chart} if facets else chart)


def mkl_weights(faces: SampleSet, train: NDArray[np.intp]) -> Any:
    """Draw MKL's weights over the 64 patches of a face."""
    features, kernels = patch_features(np.asarray(faces.images), 8)
    model = MKLSVC(kernels=kernels, C=10).fit(features[train], faces.y[train])
    return heat_map(
        grid_rows(model.kernel_weights_), 8, title="MKL weights of 8 x 8 patches",
        subtitle=f"Olivetti, women against men, first model of the first draw, C = 10; duality gap {model.gap_:.0e}",
    )  # fmt: skip


def gate_maps(
    samples: SampleSet, train: NDArray[np.intp], shown: Sequence[int], *, size: int, gate: str, C: float, name: str
) -> Any:
    """Draw the gates of some samples over patches: a row for each sample, a column for each start."""
    images = np.asarray(samples.images)
    side = images.shape[1] // size
    features, kernels = patch_features(images, size)
    gating = multiresolution(images, resolutions=[side])
    labels = [f"{samples.classes[samples.y[i]]}, {samples.ids[i]}" for i in shown]
    rows: Rows = []
    for start in range(STARTS):
        model = LMKLSVC(kernels=kernels, gate=gate, C=C, random_state=start)
        model.fit(features[train], samples.y[train], gating=gating[train])
        for label, gates in zip(labels, model.localized_weights(gating=gating[list(shown)]), strict=True):
            rows += grid_rows(gates, sample=label, start=f"start {start + 1}")
    facets = {
        "row": {"field": "sample", "title": None, "sort": labels, "header": {"labelAngle": 0, "labelAlign": "left"}},
        "column": {"field": "start", "title": None},
    }
    return heat_map(
        rows, side, title=f"{gate.capitalize()} gates over {size} x {size} patches", subtitle=f"{name}, C = {C:g}",
        facets=facets,
    )  # fmt: skip


def crossings(values: Floats, across: Floats, up: Floats) -> Iterator[tuple[float, float]]:
    """Yield the points where a field, shape (up, across), changes its sign along a line of its grid."""
    for field, first, second, swapped in ((values, across, up, False), (values.T, up, across, True)):
        for line, fixed in zip(field, second, strict=True):
            for n in np.flatnonzero(np.diff(np.sign(line))):
                moving = first[n] + (first[n + 1] - first[n]) * line[n] / (line[n] - line[n + 1])
                yield (float(fixed), float(moving)) if swapped else (float(moving), float(fixed))


def gauss4_figure() -> Any:
    """Draw GAUSS4 with the boundary of the gate, the decision boundary and the support vectors of LMKL."""
    samples = gauss4.read()
    X = samples.tables["features"]
    model = LMKLSVC(kernels=LINEAR_AND_QUADRATIC, C=10).fit(X, samples.y)
    across, up = np.linspace(-7, 7, 141), np.linspace(-8, 6, 141)
    points = np.column_stack([grid.ravel() for grid in np.meshgrid(across, up)])
    decision = model.decision_function(points).reshape(len(up), len(across))
    eta = model.localized_weights(points)
    gate = (eta[:, 0] - eta[:, 1]).reshape(decision.shape)
    lines: Rows = []
    for name, field in (("decision boundary", decision), ("both kernels weigh the same", gate)):
        lines += [{"x": round(x, 3), "y": round(y, 3), "k": name} for x, y in crossings(field, across, up)]
    support = set(model.support_.tolist())
    dots: Rows = [
        {"x": round(float(x), 3), "y": round(float(z), 3), "k": str(samples.classes[code]), "s": number in support}
        for number, ((x, z), code) in enumerate(zip(X, samples.y, strict=True))
    ]
    colours = {
        "domain": [*map(str, samples.classes), "decision boundary", "both kernels weigh the same"],
        "range": [LIGHT.colours[1], LIGHT.colours[0], LIGHT.ink, "#9aa1ab"],
    }
    position = {axis: {"field": axis, "type": "quantitative", "title": None} for axis in ("x", "y")}
    coloured = position | {"color": {"field": "k", "type": "nominal", "scale": colours, "legend": {"title": None}}}
    clip = {"clip": True, "filled": True, "opacity": 1}
    return {
        "title": {
            "text": "GAUSS4: LMKL on a linear and a quadratic kernel",
            "subtitle": f"softmax gate on the two features, C = 10; rings: {len(support)} support vectors of {len(X)}",
        },
        "width": 460,
        "height": 460,
        "layer": [
            {"data": {"values": lines}, "mark": {"type": "circle", "size": 7, **clip}, "encoding": coloured},
            {"data": {"values": dots}, "mark": {"type": "circle", "size": 18, **clip}, "encoding": coloured},
            {
                "data": {"values": [dot for dot in dots if dot["s"]]},
                "mark": {"type": "point", "size": 70, "strokeWidth": 1},
                "encoding": coloured,
            },
        ],
    }


def main(folder: Path) -> None:
    """Write every figure into ``folder``, as SVG and PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    config = vega_config(LIGHT, list(LIGHT.colours), file=True)
    faces, digits = read("olivetti-gender"), read("usps-3-vs-58")
    of_faces = validation_folds(faces.y, groups=faces.groups, test_size=2, folds=8, in_order=True, first_seed=1000)
    of_digits = validation_folds(digits.y, groups=digits.groups, test_share=1 / 3, folds=2, deals=5, first_seed=500)
    train_faces, train_digits = of_faces[0].train, of_digits[0].train
    some_faces = [i for code in (0, 1) for i in np.flatnonzero(faces.y == code)[[0, 39]]]
    some_digits = [i for code in (0, 1) for i in np.flatnonzero(digits.y == code)[[0, -1]]]
    figures = {"mkl-weights-faces": mkl_weights(faces, train_faces), "gauss4": gauss4_figure()}
    for gate, C_faces, C_digits in (("softmax", 10.0, 10.0), ("sigmoid", 0.1, 0.1)):
        figures[f"gates-{gate}-faces"] = gate_maps(
            faces, train_faces, some_faces, size=8, gate=gate, C=C_faces, name="Olivetti"
        )
        figures[f"gates-{gate}-digits"] = gate_maps(
            digits, train_digits, some_digits, size=4, gate=gate, C=C_digits, name="USPS"
        )
    for name, figure in figures.items():
        write_figure(folder / name, figure, config)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

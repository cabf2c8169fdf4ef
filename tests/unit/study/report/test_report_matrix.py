"""A report of any data sets, kernels and names: every figure is drawn, every table has the names as given."""

from __future__ import annotations

import html
import itertools
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.report.conftest import RUN, report_spec

from mklearn.study.evaluation.summary import summarise
from mklearn.study.report import figures_of_fits, rendering
from mklearn.study.report.build import build_report
from mklearn.study.report.figure_names import LONGEST, FigureNames
from mklearn.study.report.records import DataSetRecord, FitRecord

HOSTILE = [
    "constructor", "valueOf", "__proto__", "toString", "hasOwnProperty", "a\x01b", "a\x02b", "tab\there", "line\nbreak",
    "\x7f", "\x85", "\ufffe", "\uffff", "x\u2028y", "x\u2029y", "\u202eright", "\ufeffmark", "\U0001f600",
    "<script>", "]]>", "&amp;", "a.b[0]", "'\"`", "\\", "null", "NaN", "\\ufffe", "undefined", "true", " ",
    "x" * 3000, "x" * 3001, "{{ 1 }}", "${1}", "\x00", "Ω" * 300, "1e999", "2", "10",
    "</script><img src=x onerror='window.broken = 1'>",
]  # fmt: skip
METHODS = ("average", "mkl")


def study_of(n_datasets: int, same_kernels: bool, classes: list[str], repeats: int = 2) -> dict[str, Any]:
    """Arguments of ``build_report`` made up for two methods; titles and kernels are the first names of the classes."""
    rng = np.random.default_rng(0)
    rows, fits = [], []
    for number in range(n_datasets):
        dataset, kernel_set = f"d{number}", "k" if same_kernels else f"k{number}"
        kernels = [f"{name}{'' if same_kernels else number}" for name in (classes[0], classes[1], "third")]
        for (position, method), repeat in itertools.product(enumerate(METHODS), range(repeats)):
            base = {
                "study": "matrix", "dataset": dataset, "protocol": "p", "train_size": 5, "repeat": repeat, "fold": 0,
                "method": method, "kernel_set": kernel_set, "neighbour": "cosine", "metric": "accuracy", "message": "",
                "status": "ok", "parameters": "{}", "seed": repeat, "n_train": 10, "n_test": 10, "fit_seconds": 0.1,
            }  # fmt: skip
            for selection, dimension in (("dimension", 1), ("dimension", 2), ("inner_cv", 2)):
                value = 0.5 + 0.1 * (position % 3) + 0.05 * dimension + 0.01 * rng.random()
                rows.append(base | {"selection": selection, "dimension": dimension, "value": value})
        for position, method in enumerate(METHODS):
            n = len(classes)
            points = pd.DataFrame(rng.normal(size=(3 * n, 2)), columns=["x", "y"]).assign(label=classes * 3)
            info: dict[str, Any] = {"kernel": kernels, "min_eigenvalue": 0.0, "off_diagonal_mass": 0.5}
            spectrum = [[(1, 0.9), (2, 0.2), (3, -0.1)]] * len(kernels)
            fits.append(
                FitRecord(
                    dataset, "p", 5, method, classes[position], kernels, rng.dirichlet(np.ones(len(kernels)), repeats),
                    embedding=points.assign(role=["train", "test", "test"] * n) if position else None,
                    kernel_info=pd.DataFrame(info).assign(spectrum=spectrum),
                    confusion=rng.integers(0, 3, (n, n)) + 9 * np.eye(n, dtype=int), classes=np.array(classes, object),
                )
            )  # fmt: skip
    scores = pd.DataFrame(rows).astype({"dimension": "Int64", "train_size": "Int64"})
    titles = {"datasets": {f"d{k}": f"{classes[-1]}{k}" for k in range(n_datasets)}}
    summary = summarise(scores, titles=titles | {"methods": dict(zip(METHODS, classes, strict=False))})
    return {
        "study": report_spec("matrix", title=classes[0]), "run": RUN, "fits": fits,
        "scores": scores, "summary": summary,
        "data": [DataSetRecord(f"d{k}", title=classes[-1], note=classes[0]) for k in range(n_datasets)],
    }  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize(
    ("n_datasets", "same_kernels", "n_classes"),
    [
        (1, True, 2),
        (1, True, 26),
    ],
)
def test_every_figure_of_hostile_names_is_drawn(
    tmp_path: Path, n_datasets: int, same_kernels: bool, n_classes: int, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if n_classes < 40:  # the SVG says enough, and PNG are half of the time
        monkeypatch.setattr(rendering.vl_convert, "svg_to_png", lambda svg, scale: b"")
    study = study_of(n_datasets, same_kernels, HOSTILE[:n_classes])
    written = build_report(tmp_path, **study)
    assert caplog.records == []
    page = written[0].read_text(encoding="utf-8")
    assert 'class="problem"' not in page
    shown = set(re.findall(r'class="chart" data-figure="([^"]+)"', page))
    assert shown == {path.stem for path in written if path.suffix == ".png"}
    assert len(shown) == n_datasets * (7 + (1 if n_classes > 25 else 2))
    for path in written:
        if path.suffix == ".svg":
            ElementTree.fromstring(path.read_bytes())  # which characters outside XML would break
    for title in HOSTILE[:2]:  # the two methods, whole in tables
        assert f'scope="row" data-sort="{html.escape(title)}">{html.escape(title)}</th>' in page


@pytest.mark.full
def test_names_with_half_a_surrogate_pair_lose_no_page(tmp_path: Path) -> None:
    study = study_of(1, True, ["a", "b"])
    study["data"] = [DataSetRecord("d0", title="half \ud800", note="\udfff")]
    page = build_report(tmp_path, **study, figure_files=False)[0].read_text(encoding="utf-8")
    assert "half \\ud800" in page


@pytest.mark.full
def test_a_figure_that_can_not_be_drawn_costs_one_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("no such class")

    monkeypatch.setattr(rendering.vl_convert, "svg_to_png", lambda svg, scale: b"")  # half of the time
    study = study_of(1, True, ["a", "b"])
    whole = build_report(tmp_path / "whole", **study)
    monkeypatch.setattr(figures_of_fits, "embedding", broken)
    written = build_report(tmp_path / "lost", **study)
    page = written[0].read_text(encoding="utf-8")
    assert "This figure could not be drawn: KeyError: &#39;no such class&#39;" in page
    lost = {path.name for path in whole} - {path.name for path in written}
    assert len(lost) == 2
    assert all(name.startswith("embedding") for name in lost)
    assert "can't be drawn: KeyError" in caplog.text


def test_different_names_have_different_forms() -> None:
    names = FigureNames()
    forms = [names(name) for name in HOSTILE]
    assert len(set(forms)) == len(HOSTILE)
    assert all(len(form) <= LONGEST + 4 for form in forms)
    assert names("a\x01b") == "a<U+0001>b"
    assert names("class 1") == "class 1"
    assert names("Ελένη 猫") == "Ελένη 猫"
    assert names.inside({"s": ["constructor", 1, None]}) == {"s": ["constructor ", 1, None]}

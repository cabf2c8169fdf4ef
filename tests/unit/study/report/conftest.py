"""A made-up study of kernel discriminants on digits, enough to fill every part of the report."""

import itertools
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.evaluation.test_summary import row

from mklearn.study.evaluation.summary import summarise
from mklearn.study.report import page
from mklearn.study.report.records import DataSetRecord, FitRecord
from mklearn.study.study import Study

GAMMAS = {"pixels, wide": 1e-4, "pixels, middle": 5e-4, "pixels, narrow": 2e-3, "pixels, spiky": 0.2}
METHODS = {
    "average": "uniform average",
    "mkldr": "MKL-DR (exact)",
    "random": "random weights",
    "kfd": "best single kernel",
    "svc": "linear SVC",
    "sdp": "MKL-DR (relaxation)",
}
WITH_WEIGHTS = {
    "average": np.full(4, 0.25),
    "mkldr": np.array([0.1, 0.5, 0.35, 0.05]),
    "random": np.array([0.4, 0.3, 0.1, 0.2]),
    "kfd": np.eye(4)[1],
}
METHOD_OF_NUMBERS = {"average": "uniform average", "neighbours": "nearest neighbours"}
SCRIPT = "</script><img src=x onerror='window.broken = 1'>"
HOSTILE = [
    "constructor", SCRIPT, "a.b[0] \"double\" 'single' `tick`", "\\ datum.s || [] \n line", "very-long-" + "x" * 3000,
    "javascript:window.broken=1", "__proto__", "a\x01b", "\u202eright", "\U0001f600 ${1}", "&amp;", "null", "{{ 1 }}",
    " ", "1e999", "x\u2028y", "valueOf", "NaN", "]]>", "\\ufffe",
]  # fmt: skip
"""Names that break what does not escape them: methods, then kernels, then classes."""
RULES = [
    {"rule": "read", "title": "Read the data sets", "jobs": 1, "seconds": 0.5, "longest": 0.5},
    {"rule": "fit", "title": "Fit and evaluate", "jobs": 4, "seconds": 61.5, "longest": 40.0},
]
RUN = {
    "machine": {"processor": "x86", "cores": 2, "system": "Linux"}, "seed": 0, "commit": "0123abc", "rules": RULES,
    "command": "snakemake --cores 2 --configfile workflow/studies/demo.yaml", "utc": "2025-01-02T03:04:05Z",
    "versions": {"python": "3.12.1", "numpy": "2.4.0"}, "config": {"study": "demo", "repeats": 4},
}  # fmt: skip
DIGITS = DataSetRecord(
    id="digits", n_samples=1797, n_classes=10, licence="CC BY 4.0", homepage="https://doi.org/10.24432/C50P49",
    citation="Alpaydin and Kaynak (1998). Optical recognition of handwritten digits.", note="Grey values from 0 to 16.",
    files=(("digits.csv.gz", "scikit-learn", "ab" * 32),),
)  # fmt: skip


def bare_study(name: str, **more: Any) -> Study:
    common = {"datasets": ["digits"], "evaluation": {"neighbours": ["cosine"]}}
    return Study.model_validate({"study": name} | common | more)


def make_study(
    *, repeats: int = 5, sizes: tuple[int, ...] = (5,), titles: dict[str, str] | None = None, dataset: str = "digits"
) -> dict[str, Any]:
    titles = titles or METHODS
    fits = [fit for size in sizes for fit in _fits(dataset, size, repeats, titles)]
    scores = pd.DataFrame([made for size in sizes for made in _evaluate(dataset, size, repeats)])
    scores = scores.astype({"dimension": "Int64", "train_size": "Int64"})
    published = [
        {"dataset": dataset, "train_size": 5, "method": "mkldr", "value": 0.9, "std": 0.02, "source": "Table 1"}
    ]
    summary = summarise(
        scores, published=published, titles={"datasets": {dataset: f"{dataset.title()} 8 × 8"}, "methods": titles}
    )
    return {
        "study": bare_study("demo", title="Kernel discriminants on digits", description="A study for tests."),
        "reference": "average", "average": "average", "run": RUN, "fits": fits, "scores": scores, "summary": summary,
        "cited": [(title, "Some, Body 1999") for title in titles.values()],
        "data": [replace(DIGITS, id=dataset, title=f"{dataset.title()} 8 × 8")],
    }  # fmt: skip


def make_hostile_study() -> dict[str, Any]:
    """A study whose methods, kernels, classes and texts have names that break what does not escape them."""
    names = iter(HOSTILE)
    study = make_study(repeats=2, titles={method: next(names) for method in METHODS}, dataset="a.b[0]</script>'\"")
    kernels, classes = [next(names) for _ in GAMMAS], [next(names) for _ in range(10)]
    study["study"] = study["study"].model_copy(update={"title": f"</title>{SCRIPT}", "description": "<b>bold</b>"})
    study["data"] = [replace(study["data"][0], homepage="javascript:window.broken=1", note=SCRIPT)]
    study["run"] = RUN | {"config": {"study": f"</code></pre>{SCRIPT}"}}
    study["scores"].loc[study["scores"]["method"].eq("sdp"), "message"] = f"</td>{SCRIPT}"
    for place, fit in enumerate(study["fits"]):
        points = fit.embedding
        points = None if points is None else points.assign(label=[classes[label] for label in points["label"]])
        info, counts = fit.kernel_info.assign(kernel=kernels), fit.confusion.set_axis(classes).set_axis(classes, axis=1)
        weights = fit.weights.set_axis(kernels, axis=1)
        study["fits"][place] = replace(fit, weights=weights, confusion=counts, kernel_info=info, embedding=points)
    return study


def make_numbers_study(repeats: int = 2) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    rows: list[dict[str, Any]] = []
    fits = []
    for place, (method, title) in enumerate(METHOD_OF_NUMBERS.items()):
        true = 100 * rng.random(140 * repeats)
        table = pd.DataFrame({"repeat": np.repeat(range(repeats), 140), "sample": np.arange(len(true)).astype(str)})
        table = table.assign(true=true, predicted=true + (10 + 5 * place) * rng.normal(size=len(true)))
        fits.append(FitRecord("diabetes", "random", None, method, title, predicted=table))
        fixed = {"study": "clinic", "dataset": "diabetes", "kernel_set": "", "neighbour": "", "selection": "inner_cv"}
        for repeat, metric in itertools.product(range(repeats), ("r2", "rmse")):
            value = 0.8 - 0.2 * place + 0.01 * repeat if metric == "r2" else 10 + 5 * place + repeat
            rows.append(row(method, repeat, value, metric=metric, train_size=None, n_train=300, n_test=140, **fixed))
    scores = pd.DataFrame(rows)
    scores = scores.astype({"dimension": "Int64", "train_size": "Int64"})
    titles = {"datasets": {"diabetes": "Diabetes"}, "methods": METHOD_OF_NUMBERS}
    data = replace(DIGITS, id="diabetes", title="Diabetes", n_samples=442, n_classes=0)
    return {
        "study": bare_study("clinic", title="Disease progression", datasets=["diabetes"], evaluation={}),
        "reference": "average", "average": "average", "run": RUN, "data": [data], "fits": fits, "scores": scores,
        "summary": summarise(scores, titles=titles),
    }  # fmt: skip


def _evaluate(dataset: str, size: int, repeats: int) -> list[dict[str, Any]]:
    """Made up: curves that rise over nine dimensions, a classifier, and a method that fails."""
    rng = np.random.default_rng(size)
    rows: list[dict[str, Any]] = []
    for repeat in range(repeats):
        place = {"repeat": repeat, "dataset": dataset, "train_size": size, "fit_seconds": 0.01 * size}
        for position, (method, rule) in enumerate(itertools.product(WITH_WEIGHTS, ("cosine", "euclidean"))):
            fit = place | {"method": method, "neighbour": rule, "fit_seconds": 0.004 * 3**position * (1 + repeat / 5)}
            curve = 0.85 - 0.6 * np.exp(-np.arange(1, 10) / 3) - 0.02 * position + 0.02 * rng.normal(size=9)
            rows += [row(**fit, dimension=dimension, value=value) for dimension, value in enumerate(curve, start=1)]
            rows.append(row(**fit, selection="inner_cv", dimension=8, value=curve[7]))
        svc, failed = ({"method": method, "neighbour": ""} | place for method in ("svc", "sdp"))
        rows += [row(**svc, selection=selection, value=0.86 + 0.01 * repeat) for selection in ("dimension", "inner_cv")]
        rows.append(row(**failed, selection="", status="failed", message="the solver ended without a solution"))
    return rows


def _fits(dataset: str, size: int, repeats: int, titles: dict[str, str]) -> list[FitRecord]:
    """Made up: weights, a history, points in the plane, kernels of which one is the identity, and confusions."""
    rng = np.random.default_rng(size)
    info = pd.DataFrame({
        "kernel": list(GAMMAS), "min_eigenvalue": [0.1, 0.01, -0.2, 1.0], "off_diagonal_mass": [0.9, 0.8, 0.5, 0.01],
        "bandwidth": [1 / gamma for gamma in GAMMAS.values()], "identity_like": [False, False, False, True],
    })  # fmt: skip
    steps = pd.DataFrame({"repeat": np.repeat(range(repeats), 10), "half_step": list(range(10)) * repeats, "fold": 0})
    value = 0.03 + 0.06 * np.exp(-0.5 * steps["half_step"]) + 0.002 * steps["repeat"]
    history = steps.assign(value=value, step=["A", "beta"] * (5 * repeats), optimum=np.nan)
    records, names = [], [f"digit {number}" for number in range(10)]
    for method, weights in WITH_WEIGHTS.items():
        labels = np.repeat(range(10), 6)
        points = pd.DataFrame({"x": labels + rng.normal(size=60), "y": rng.normal(size=60), "label": labels})
        shown = weights + 0.02 * rng.random((repeats, 4)) * (method in ("mkldr", "random"))
        records.append(
            FitRecord(
                dataset, "random", size, method, titles.get(method, method),
                pd.DataFrame(shown / shown.sum(axis=1, keepdims=True), columns=list(GAMMAS)),
                history=history if method == "mkldr" else None,
                embedding=points.assign(role=["train", "test"] * 30) if method in ("average", "mkldr") else None,
                kernel_info=info,
                confusion=pd.DataFrame(rng.integers(0, 3, (10, 10)) + 9 * np.eye(10, dtype=int), names, names),
            )
        )  # fmt: skip
    return records


@pytest.fixture(scope="session")
def study() -> dict[str, Any]:
    """A small study that every test may read, and none may change."""
    return make_study()


@pytest.fixture(scope="session")
def report(study: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write_report(folder, **study)
    return folder


@pytest.fixture(scope="session")
def report_of_numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numbers")
    write_report(folder, **make_numbers_study())
    return folder


def write_report(folder: Path, **study: Any) -> list[Path]:
    """Write a report without figure files, which take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "rendered", lambda *_: "")
        return page.build_report(folder, **study)


def read(folder: Path) -> tuple[str, str]:
    html, text = ((folder / name).read_text(encoding="utf-8") for name in ("index.html", "summary.md"))
    return html, text


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium; its event loop must end before other files call Snakemake, which runs its own."""
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if executable is None:
        pytest.skip("no Chromium on this machine: install it to test the report's page")
    playwright = pytest.importorskip("playwright.sync_api")
    options = [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
    ]  # fmt: skip
    with playwright.sync_playwright() as session:
        chromium = session.chromium.launch(executable_path=executable, args=options)
        yield chromium
        chromium.close()

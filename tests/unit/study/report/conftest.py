"""A small real study: kernel discriminants on scikit-learn's digits, enough to fill every part of the report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel
from sklearn.neighbors import KNeighborsRegressor

from mklearn.base.folds import inner_folds
from mklearn.kernels.identity_like import off_diagonal_mass
from mklearn.nearest_neighbour import accuracy_by_dimension
from mklearn.study.evaluation.selection import select_by_scores
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.build import build_report
from mklearn.study.report.figure_names import FigureNames
from mklearn.study.report.frames import results_of
from mklearn.study.report.gallery import panels
from mklearn.study.report.records import DataFile, DataSetRecord, FitRecord, RunRecord, StageCost
from mklearn.study.specs.table_specs import CatalogueEntry, ReportSpec

GAMMAS = {"pixels, wide": 1e-4, "pixels, middle": 5e-4, "pixels, narrow": 2e-3, "pixels, spiky": 0.2}
METHODS = {
    "average": "uniform average",
    "mkldr": "MKL-DR (exact)",
    "random": "random weights",
    "kfd": "best single kernel",
    "svc": "linear SVC",
    "sdp": "MKL-DR (relaxation)",
}
METHOD_OF_NUMBERS = {"average": "uniform average", "neighbours": "nearest neighbours"}
SCRIPT = "</script><img src=x onerror='window.broken = 1'>"
HOSTILE = [
    "constructor", SCRIPT, "a.b[0] \"double\" 'single' `tick`", "\\ datum.s || [] \n line", "very-long-" + "x" * 3000,
    "javascript:window.broken=1", "valueOf", "__proto__", "a\x01b", "a\x02b", "\x7f", "\ufffe", "x\u2028y", "x\u2029y",
    "\u202eright", "\ufeffmark", "\U0001f600 ${1}", "]]>", "&amp;", "\\", "null", "NaN", "\\ufffe", " ", "\x00",
    "{{ 1 }}", "very-long-" + "x" * 3001, "1e999",
]  # fmt: skip
STAGES = (
    StageCost("read", "Read the data sets", jobs=1, known=0, seconds=None, longest=None, longest_job=None, bytes=0),
    StageCost(
        "fit", "Fit and evaluate", jobs=4, known=3, seconds=61.5, longest=40.0, bytes=12345,
        longest_job="results/cache/fits/digits-0123456789abcdef/random-0123456789abcdef/mkldr-0123456789abcdef",
    ),
)  # fmt: skip
RUN = RunRecord(
    machine="2 cores", command="snakemake --cores 2 --configfile workflow/studies/demo.yaml", seed=0, commit="0123abc",
    utc="2025-01-02T03:04:05Z", versions={"python": "3.12.1", "numpy": "2.4.0"}, stages=STAGES,
    config_text="study: demo\nrepeats: 4\n",
)  # fmt: skip
DIGITS = DataSetRecord(
    id="digits", n_samples=1797, n_classes=10, licence="CC BY 4.0", homepage="https://doi.org/10.24432/C50P49",
    citation="Alpaydin and Kaynak (1998). Optical recognition of handwritten digits.", note="Grey values from 0 to 16.",
    files=(DataFile("digits.csv.gz", "ab" * 32, "scikit-learn", 57523),),
)  # fmt: skip


def report_spec(study: str, **more: Any) -> ReportSpec:
    """A specification that is empty but for what is given."""
    lists = ("fits", "datasets", "remarks", "learned", "best_single", "descriptors", "kernels", "methods")
    empty = {
        "title": "",
        "description": "",
        "reference": "average",
        "thumbnails": 0,
        "calibration": None,
        "tolerance": {},
    }
    return ReportSpec(study=study, **empty | {name: [] for name in lists} | more)


def make_study(
    *, repeats: int = 5, sizes: tuple[int, ...] = (5,), titles: dict[str, str] | None = None, dataset: str = "digits"
) -> dict[str, Any]:
    """Arguments of ``build_report``, from a real evaluation with weights and histories made up beside it."""
    titles = titles or METHODS
    digits = load_digits()
    rows: list[dict[str, Any]] = []
    fits: list[FitRecord] = []
    for size in sizes:
        rows += _evaluate(digits, dataset, size, repeats)
        fits += _fits(digits, dataset, size, repeats, titles)
    scores = pd.DataFrame(rows)
    for column in ("dimension", "train_size"):
        scores[column] = scores[column].astype("Int64")
    published = [
        {"dataset": dataset, "train_size": 5, "method": "mkldr", "value": 0.9, "std": 0.02, "source": "Table 1"}
    ]
    summary = summarise(
        scores, published=published, titles={"datasets": {dataset: f"{dataset.title()} 8 × 8"}, "methods": titles}
    )
    return {
        "study": report_spec(
            "demo",
            title="Kernel discriminants on digits",
            description="A study for tests.",
            methods=[CatalogueEntry(id=key, title=title, reference="A paper") for key, title in titles.items()],
            kernels=[CatalogueEntry(id=name, title=name, reference="") for name in GAMMAS],
            descriptors=[CatalogueEntry(id="pixels", title="Grey values", reference="")],
        ),
        "run": RUN,
        "data": [
            replace(
                DIGITS,
                id=dataset,
                title=f"{dataset.title()} 8 × 8",
                thumbnails=(digits.images[:16] * 15).astype(np.uint8),
            )
        ],
        "fits": fits,
        "scores": scores,
        "summary": summary,
    }


def make_hostile_study() -> dict[str, Any]:
    """A study whose methods, kernels, classes and texts have names that break what does not escape them."""
    names = iter(HOSTILE)
    study = make_study(repeats=2, titles={method: next(names) for method in METHODS}, dataset="a.b[0]</script>'\"")
    kernels, classes = [next(names) for _ in GAMMAS], np.array([next(names) for _ in range(10)], dtype=object)
    study["study"] = study["study"].model_copy(update={"title": f"</title>{SCRIPT}", "description": "<b>bold</b>"})
    study["data"] = [replace(study["data"][0], homepage="javascript:window.broken=1", note=SCRIPT)]
    study["run"] = replace(RUN, config_text=f"</code></pre>{SCRIPT}")
    study["scores"].loc[study["scores"]["method"].eq("sdp"), "message"] = f"</td>{SCRIPT}"
    for place, fit in enumerate(study["fits"]):
        points = None if fit.embedding is None else fit.embedding.assign(label=classes[fit.embedding["label"]])
        info = fit.kernel_info.assign(kernel=kernels)
        study["fits"][place] = replace(fit, kernel_ids=kernels, classes=classes, kernel_info=info, embedding=points)
    return study


def make_numbers_study(repeats: int = 2) -> dict[str, Any]:
    """Arguments of ``build_report`` for a study of numbers, from predictions of scikit-learn's diabetes."""
    X, y = load_diabetes(return_X_y=True)
    models = {"average": Ridge(alpha=0.1), "neighbours": KNeighborsRegressor(10)}
    rows: list[dict[str, Any]] = []
    fits = []
    for method, model in models.items():
        tables = []
        for repeat in range(repeats):
            train, test = np.split(np.random.default_rng(repeat).permutation(len(y)), [300])
            predicted = model.fit(X[train], y[train]).predict(X[test])
            tables.append(pd.DataFrame({"repeat": repeat, "sample": test.astype(str), "true": y[test]}))
            tables[-1] = tables[-1].assign(predicted=predicted)
            error = float(np.mean((predicted - y[test]) ** 2))
            values = {"r2": 1 - error / float(np.var(y[train])), "rmse": np.sqrt(error)}
            base = {
                "study": "clinic", "dataset": "diabetes", "protocol": "random", "repeat": repeat, "fold": 0,
                "method": method, "kernel_set": "", "neighbour": "", "selection": "inner_cv", "message": "",
                "status": "ok", "parameters": "{}", "seed": 0, "n_train": 300, "n_test": 142, "fit_seconds": 0.1,
            }  # fmt: skip
            rows += [base | {"metric": metric, "value": value} for metric, value in values.items()]
        fits.append(
            FitRecord("diabetes", "random", None, method, METHOD_OF_NUMBERS[method], [], predicted=pd.concat(tables))
        )
    scores = pd.DataFrame(rows).assign(dimension=pd.array([None] * len(rows), "Int64"))
    scores["train_size"] = pd.array([None] * len(rows), "Int64")
    titles = {"datasets": {"diabetes": "Diabetes"}, "methods": METHOD_OF_NUMBERS}
    catalogue = [CatalogueEntry(id=key, title=title, reference="") for key, title in METHOD_OF_NUMBERS.items()]
    data = replace(DIGITS, id="diabetes", title="Diabetes", n_samples=442, n_classes=0)
    return {
        "study": report_spec("clinic", title="Disease progression", methods=catalogue, score="r2", metric="r2"),
        "run": RUN, "data": [data], "fits": fits, "scores": scores, "summary": summarise(scores, titles=titles),
    }  # fmt: skip


def _evaluate(digits: Any, dataset: str, size: int, repeats: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for repeat in range(repeats):
        train, test = _split(digits.target, size, repeat)
        y_train, y_test = digits.target[train], digits.target[test]
        base = {
            "study": "demo", "dataset": dataset, "protocol": "random", "train_size": size, "repeat": repeat, "fold": 0,
            "kernel_set": "pixels", "metric": "accuracy", "message": "", "status": "ok", "parameters": json.dumps({}),
            "seed": repeat, "n_train": len(train), "n_test": len(test), "fit_seconds": 0.01 * size, "dimension": None,
        }  # fmt: skip
        kernels = np.stack([rbf_kernel(digits.data, digits.data[train], gamma=gamma) for gamma in GAMMAS.values()])
        for position, (method, weights) in enumerate(_weights(repeat).items()):
            K = np.tensordot(weights, kernels, axes=1)
            Z = _discriminant(K[train], y_train, K)
            K_train = K[train]
            fit = base | {"method": method, "fit_seconds": 0.004 * 3**position * (1 + repeat / 5)}
            for rule in ("cosine", "euclidean"):
                curve = accuracy_by_dimension(Z[train], y_train, Z[test], y_test, rule)
                for dimension, value in enumerate(curve, start=1):
                    rows.append(
                        fit | {"neighbour": rule, "selection": "dimension", "dimension": dimension, "value": value}
                    )

                inner_scores = []
                for a, b in inner_folds(y_train, 3, 0):
                    inner = _discriminant(K_train[np.ix_(a, a)], y_train[a], K_train[:, a])
                    inner_scores.append(accuracy_by_dimension(inner[a], y_train[a], inner[b], y_train[b], rule))
                chosen = select_by_scores([inner_scores]).dimension
                rows.append(
                    fit | {"neighbour": rule, "selection": "inner_cv", "dimension": chosen, "value": curve[chosen - 1]}
                )
        for selection in ("dimension", "inner_cv"):
            rows.append(
                base | {"method": "svc", "neighbour": "", "selection": selection, "value": 0.86 + 0.01 * repeat}
            )
        rows.append(
            base
            | {"method": "sdp", "neighbour": "", "selection": "", "value": np.nan, "fit_seconds": np.nan}
            | {"status": "failed", "message": "the solver ended without a solution"}
        )
    return rows


def _weights(repeat: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(repeat)
    return {
        "average": np.full(4, 0.25),
        "mkldr": np.array([0.1, 0.5, 0.35, 0.05]) + 0.02 * generator.normal(size=4),
        "random": generator.dirichlet(np.ones(4)),
        "kfd": np.eye(4)[1],
    }


def _split(y: np.ndarray, size: int, repeat: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(100 + repeat).permutation(len(y))
    train = np.concatenate([order[y[order] == label][:size] for label in np.unique(y)])
    test = np.setdiff1d(order, train, assume_unique=True)[: len(train)]
    return train, test


def _discriminant(K_train: np.ndarray, y: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Kernel discriminant by regression on the centred class indicators, columns by singular value."""
    indicators = (y[:, None] == np.unique(y)) - np.mean(y[:, None] == np.unique(y), axis=0)
    scores = np.linalg.solve(K_train + 1e-2 * np.eye(len(y)), indicators)
    left, _, _ = np.linalg.svd(indicators.T @ K_train @ scores)
    return (K @ scores @ left)[:, :-1]


def _fits(digits: Any, dataset: str, size: int, repeats: int, titles: dict[str, str]) -> list[FitRecord]:
    train, test = _split(digits.target, size, 0)
    stack = np.stack([rbf_kernel(digits.data[train], gamma=gamma) for gamma in GAMMAS.values()])
    info = pd.DataFrame(
        {
            "kernel": list(GAMMAS),
            "min_eigenvalue": [np.linalg.eigvalsh(K)[0] for K in stack],
            "off_diagonal_mass": [off_diagonal_mass(K) for K in stack],
            "bandwidth": [1 / gamma for gamma in GAMMAS.values()],
            "identity_like": [off_diagonal_mass(K) < 0.1 for K in stack],
        }
    )
    records = []
    for method in ("average", "mkldr", "random", "kfd"):
        weights = np.array([_weights(repeat)[method] for repeat in range(repeats)])
        weights /= weights.sum(axis=1, keepdims=True)
        K = np.tensordot(weights[0], [rbf_kernel(digits.data, digits.data[train], gamma=g) for g in GAMMAS.values()], 1)
        Z = _discriminant(K[train], digits.target[train], K)
        shown = np.concatenate([train, test])
        points = pd.DataFrame({"x": Z[shown, 0], "y": Z[shown, 1], "label": digits.target[shown]})
        points["role"] = ["train"] * len(train) + ["test"] * len(test)
        history = [
            {
                "repeat": repeat,
                "fold": 0,
                "half_step": step,
                "step": "A" if step % 2 == 0 else "beta",
                "value": 0.03 + 0.06 * np.exp(-0.5 * step) + 0.002 * repeat,
                "bound": 0.028 + 0.05 * np.exp(-0.5 * step) if step % 2 else np.nan,
                "optimum": np.nan,
            }
            for repeat in range(repeats)
            for step in range(10)
        ]
        near = np.argmax(cosine_similarity(Z[test], Z[train]), axis=1)
        confusion = np.zeros((10, 10), dtype=np.int32)
        np.add.at(confusion, (digits.target[test], digits.target[train][near]), 1)
        records.append(
            FitRecord(
                dataset, "random", size, method, titles.get(method, method), list(GAMMAS), weights,
                history=pd.DataFrame(history) if method == "mkldr" else None,
                embedding=points if method in ("average", "mkldr") else None,
                kernel_info=info, confusion=confusion, classes=np.array([f"digit {number}" for number in range(10)]),
            )
        )  # fmt: skip
    return records


@pytest.fixture(scope="session")
def study() -> dict[str, Any]:
    """A small study that every test may read, and none may change."""
    return make_study()


@pytest.fixture(scope="session")
def report(study: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with its report, without files of figures."""
    folder = tmp_path_factory.mktemp("report")
    build_report(folder, **study, figure_files=False)
    return folder


@pytest.fixture(scope="session")
def report_of_numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the report of a study that predicts numbers, without files of figures."""
    folder = tmp_path_factory.mktemp("numbers")
    build_report(folder, **make_numbers_study(), figure_files=False)
    return folder


def read(folder: Path) -> tuple[str, str]:
    """Return the page and the Markdown of a report."""
    html, text = ((folder / name).read_text(encoding="utf-8") for name in ("index.html", "summary.md"))
    return html, text


def sections_of(scores: pd.DataFrame, summary: pd.DataFrame) -> set[str]:
    """Return the sections of the figures that a study without fits has."""
    results = results_of(scores, summary, [])
    nothing = pd.DataFrame(columns=["z", "dataset_title", "metric"])
    found = panels(results, nothing, 3, [], FigureNames())
    assert not [panel.problem for panel in found if panel.problem]
    return {panel.section for panel in found}


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

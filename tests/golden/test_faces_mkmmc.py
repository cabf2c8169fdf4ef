"""The MKMMC study on ORL and Yale: the published cells that can be reproduced, and what the others really give.

20 random splits per cell, first nearest neighbour by Euclidean distance, accuracies averaged over the splits first and
the best dimension of the mean curve taken then ("mean-then-max"), as the papers do. Published values are means of 20
splits as well: they may differ from ours by three standard errors of the difference, 3 sd sqrt(1/20 + 1/20), with sd
the standard deviation over splits, measured on 200 splits (kernel PCA: 20). Values of our own specification come from
at least 20 other splits: the same rule, with their sd.

PCA of full rank changes no distance: its rows are raw-pixel nearest neighbour, which shows that these are the papers'
images. Another crop of the same faces is 10 to 20 points higher.
"""

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest
from tests.golden.conftest import Faces

from mklearn.classifiers import ledoit_wolf_lda
from mklearn.classifiers.ledoit_wolf_lda import LedoitWolfLDA
from mklearn.kernels import GaussianKernel
from mklearn.kernels.distances import squared_euclidean
from mklearn.kernels.views import Views
from mklearn.nearest_neighbour import nearest_neighbour_predictions_by_dimension
from mklearn.optimize.whitening import CentredSpan, centred_span
from mklearn.papers.mkmmc.mkmmc import MKMMC
from mklearn.study.data.draw_splits import random_per_class
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.split import evaluate_split
from mklearn.study.specs.fit_spec import EvaluationSpec, InputSpec, MethodSpec
from mklearn.subspace import fisherface, mmc, pca
from mklearn.subspace.fisherface import Fisherface
from mklearn.subspace.kernel_mmc import KernelMMC
from mklearn.subspace.kernel_pca import KernelPCA
from mklearn.subspace.mmc import MMC
from mklearn.subspace.null_space_lda import NullSpaceLDA
from mklearn.subspace.pca import PCA

REPEATS = 20
CELLS = [(name, size) for name in ("orl", "yale") for size in (2, 3, 4)]
cells = pytest.mark.parametrize(
    "cell",
    [
        pytest.param(cell, id=f"{cell[0]}{cell[1]}", marks=[pytest.mark.smoke] if cell == ("yale", 2) else [])
        for cell in CELLS
    ],
)

# What the papers print (%), and the standard deviation over splits of our method. MMC with lambda = 1 and PCA: MKMMC's
# tables 1 and 2 (PCA in both papers); lambda = tr S_b / tr S_w and LDA: 2DMMC's. Kernel PCA: MKMMC's KPCA_cv, which
# agrees with PCA in all cells; ours has the widest kernel of the grid in place of a choice by leave-one-out.
PUBLISHED = {
    "pca": [(70.67, 2.90), (78.88, 2.53), (84.21, 2.34), (46.04, 3.96), (49.96, 3.69), (55.67, 3.61)],
    "kernel_pca": [(70.67, 3.43), (78.88, 3.04), (84.17, 2.41), (46.04, 3.55), (49.96, 3.49), (55.71, 3.49)],
    "mmc": [(73.23, 3.30), (82.80, 3.10), (90.00, 2.33), (51.93, 4.43), (61.13, 4.45), (67.95, 4.43)],
    "mmc_trace_ratio": [(77.97, 3.18), (86.32, 2.84), (91.63, 2.05), (52.37, 4.55), (61.83, 4.27), (67.95, 4.16)],
    "lda": [(72.80, 3.20), (83.79, 2.68), (90.13, 2.09), (42.81, 4.87), (60.33, 4.36), (68.10, 4.20)],
}

# What a correct implementation gives (our specification's prototype, 20 to 200 other splits), with the standard
# deviation over splits; for "kernel_mmc" and the last four rows the prototype's was not kept, and it is this code's.
# "coef" is the constraint as printed. "kernel_mmc": bandwidth sigma_0^2. Null-space LDA: the limit of large lambda.
MEASURED = {
    "kernel_mmc_coef": [(58.8, 3.51), (69.1, 2.85), (76.4, 3.51), (45.9, 2.96), (53.4, 4.25), (56.3, 3.43)],
    "kernel_mmc_rkhs": [(73.6, 3.82), (82.7, 2.8), (89.6, 3.08), (50.0, 4.23), (58.9, 5.44), (64.5, 2.35)],
    "uniform_coef": [(64.11, 3.54), (73.39, 2.74), (80.15, 2.63), (48.15, 4.25), (55.04, 2.87), (57.95, 5.03)],
    "uniform_rkhs": [(72.41, 3.35), (81.12, 2.88), (87.67, 2.09), (48.07, 3.92), (57.08, 3.09), (63.05, 4.56)],
    "mkmmc_coef": [(59.22, 3.48), (69.12, 2.57), (76.38, 2.80), (47.26, 4.56), (55.42, 2.79), (57.14, 4.97)],
    "mkmmc_rkhs": [(73.02, 3.21), (81.61, 2.91), (86.48, 2.07), (46.33, 3.61), (56.04, 2.49), (61.19, 3.97)],
    "lda_unit": [(75.75, 3.02), (86.35, 2.71), (90.96, 1.99), (44.09, 5.01), (59.97, 4.61), (68.94, 4.21)],
    "lda_orthonormal": [(78.61, 3.09), (89.77, 2.31), (94.04, 1.73), (44.62, 5.03), (61.28, 4.39), (70.34, 4.19)],
    "ridge_lda": [(82.5, 3.51), (90.1, 2.03), (94.7, 2.02), (52.0, 4.9), (64.8, 5.15), (70.3, 3.22)],
    "ledoit_wolf_cosine": [(86.6, 2.33), (92.5, 1.77), (95.9, 1.38), (56.9, 4.47), (70.5, 4.66), (77.3, 3.82)],
    "ledoit_wolf_euclidean": [(82.9, 3.11), (90.5, 2.16), (94.3, 2.28), (54.1, 5.38), (67.8, 5.42), (75.0, 3.45)],
    "null_space_lda": [(82.9, 3.12), (90.4, 2.14), (94.2, 2.34), (54.1, 5.42), (67.8, 5.48), (75.0, 3.46)],
}
PUBLISHED_MKMMC = [79.09, 88.84, 93.79, 53.89, 66.83, 73.52]

# With "rkhs" the alternation goes round in circles on part of the splits (on ORL with 3 and 4 pictures, on all): the
# number depends on where it is cut. These are the dimensions at which the prototype's values were reached.
RKHS_DIMENSIONS = {("orl", 2): 40, ("orl", 3): 39, ("orl", 4): 39, ("yale", 2): 15, ("yale", 3): 15, ("yale", 4): 15}


def _bandwidths(distances: np.ndarray) -> np.ndarray:
    """Return the eleven bandwidths of MKMMC, section 3.2."""
    return np.exp2(np.arange(-5, 6)) * GaussianKernel(bandwidth_rule="squared_mean_distance").fit(distances).bandwidth_


@pytest.fixture(scope="module", autouse=True)
def one_span_for_a_split() -> Iterator[None]:
    """Decompose the training samples of a split once for all methods, not once for each."""
    last: dict[bytes, CentredSpan] = {}

    def span(X: np.ndarray) -> CentredSpan:
        content = X.tobytes()
        if content not in last:
            last.clear()
            last[content] = centred_span(X)
        return last[content]

    with pytest.MonkeyPatch.context() as patch:
        for module in (fisherface, ledoit_wolf_lda, mmc, pca):
            patch.setattr(module, "centred_span", span)
        yield


@cache
def curves(name: str, train_size: int, faces: Faces) -> tuple[dict[str, np.ndarray], list[MKMMC]]:
    """(REPEATS, dimensions) accuracies in per cent of every method, and the MKMMC models of the printed constraint."""
    images, y = faces(name)
    X = images.reshape(len(images), -1)
    c = len(np.unique(y))
    distances = squared_euclidean(X)
    rows: dict[str, list[np.ndarray]] = {}
    models = []
    rkhs_dimension = RKHS_DIMENSIONS[name, train_size]
    linear: dict[str, Callable[[], object]] = {
        "pca": PCA,
        "mmc": lambda: MMC(c),
        "mmc_trace_ratio": lambda: MMC(c, trade_off="trace_ratio"),
        "lda": Fisherface,
        "lda_unit": lambda: Fisherface(scaling="unit"),
        "lda_within": lambda: Fisherface(scaling="within"),
        "lda_orthonormal": lambda: Fisherface(scaling="orthonormal"),
        "ridge_lda": lambda: Fisherface(n_pca="all", ridge=1.0, scaling="within"),
        "null_space_lda": NullSpaceLDA,
    }
    kernel: dict[str, Callable[[], object]] = {
        "kernel_pca": lambda: KernelPCA(kernel_weights=10),
        "kernel_mmc_coef": lambda: KernelMMC(c - 1, constraint="coef", kernel_weights=5),
        "kernel_mmc_rkhs": lambda: KernelMMC(c - 1, kernel_weights=5),
        "uniform_coef": lambda: KernelMMC(c - 1, constraint="coef"),
        "uniform_rkhs": lambda: KernelMMC(c - 1),
        "mkmmc_coef": lambda: MKMMC(c - 1, constraint="coef"),
        "mkmmc_rkhs": lambda: MKMMC(rkhs_dimension, keep="last"),
    }
    for split in random_per_class(y, train_size, REPEATS, seed=0, name=name):
        train, test = split.train, split.test
        gammas = _bandwidths(distances[np.ix_(train, train)])
        kernels = np.exp(-distances[:, train, None] / gammas)
        for builders, data in ((linear, X), (kernel, kernels)):
            for method, build in builders.items():
                model = build().fit(data[train], y[train])  # type: ignore[attr-defined]
                Z = model.transform(data[test])
                predicted = nearest_neighbour_predictions_by_dimension(model.embedding_, y[train], Z)
                curve = (predicted == y[test]).mean(axis=1)
                rows.setdefault(method, []).append(100 * curve)
                if method == "mkmmc_coef":
                    models.append(model)
        classifier = LedoitWolfLDA().fit(X[train], y[train])
        for rule in ("cosine", "euclidean"):
            classifier.set_params(rule=rule)
            rows.setdefault(f"ledoit_wolf_{rule}", []).append(np.array([100 * classifier.score(X[test], y[test])]))
    return {method: np.array(values) for method, values in rows.items()}, models


def best(name: str, train_size: int, method: str, faces: Faces) -> float:
    return float(curves(name, train_size, faces)[0][method].mean(axis=0).max())


def tolerance(deviation: float) -> float:
    return 3 * deviation * np.sqrt(2 / REPEATS)


@cells
@pytest.mark.parametrize("method", PUBLISHED | MEASURED)
def test_value_is_reproduced(method: str, cell: tuple[str, int], faces: Faces) -> None:
    value, deviation = (PUBLISHED | MEASURED)[method][CELLS.index(cell)]
    assert abs(best(*cell, method, faces) - value) <= tolerance(deviation)


@cells
def test_printed_mkmmc_selects_one_kernel_and_misses_the_published_value(cell: tuple[str, int], faces: Faces) -> None:
    models = curves(*cell, faces)[1]
    assert all(model.selected_kernel_ is not None for model in models)
    assert all(model.status_ == "converged" and model.n_iter_ <= 7 for model in models)
    for model in models:
        history = model.objective_history_
        assert (np.diff(history) >= -1e-12 * history[-1]).all()
    published = PUBLISHED_MKMMC[CELLS.index(cell)]
    deviation = MEASURED["mkmmc_coef"][CELLS.index(cell)][1]
    printed = best(*cell, "mkmmc_coef", faces)
    assert printed < published - tolerance(deviation)
    # Nor does it gain on the linear criterion, as the paper says it does.
    assert printed < best(*cell, "mmc", faces)


@cells
def test_the_scale_of_lda_decides_and_the_baseline_beats_all(cell: tuple[str, int], faces: Faces) -> None:
    values = {method: best(*cell, method, faces) for method in curves(*cell, faces)[0]}
    assert values["lda_within"] < values["lda"] - 10
    assert values["lda"] < values["lda_unit"] < values["lda_orthonormal"]
    assert max(values, key=lambda method: values[method]) == "ledoit_wolf_cosine"


# Bandwidth by leave-one-out on each split, refitted without each sample; then the best dimension of the mean test
# curve, as the paper's KPCA_cv and KMMC_cv. The prototype broke ties by the smaller bandwidth, this code by fewer
# dimensions first. Mean and standard deviation over its 20 splits, Yale.
CHOSEN_BY_LEAVING_ONE_OUT = {
    ("kernel_pca", 2): (44.19, 3.55), ("kernel_pca", 3): (51.92, 3.49),
    ("rkhs", 2): (50.19, 4.33), ("rkhs", 3): (60.50, 3.20),
    ("coef", 2): (43.04, 7.10), ("coef", 3): (52.62, 4.06),
}  # fmt: skip


@pytest.mark.parametrize(("method", "train_size"), CHOSEN_BY_LEAVING_ONE_OUT)
def test_bandwidth_by_leaving_one_out(method: str, train_size: int, faces: Faces) -> None:
    images, y = faces("yale")
    spec = MethodSpec(
        id=method,
        implementation="mklearn.subspace:KernelPCA" if method == "kernel_pca" else "mklearn.subspace:KernelMMC",
        parameters={} if method == "kernel_pca" else {"constraint": method},
        inputs={"kernels": InputSpec(kind="kernels")},
        embeds=True,
        kernel_choice="best_single",
    )
    kernels = [
        {"id": f"{k}", "view": "x", "bandwidth_rule": "squared_mean_distance", "bandwidth": 2.0**k, "centre": False}
        for k in range(-5, 6)
    ]
    problem = MethodOnViews(Views({"x": images.reshape(len(images), -1)}), y, spec, kernels)
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds="leave_one_out")
    curves = []
    repeats = 8  # of the prototype's 20, to be quick
    for split in random_per_class(y, train_size, repeats, seed=0, name="yale"):
        result = evaluate_split(problem, split.train, split.test, evaluation=evaluation, seed=0)
        curves.append(result.rules["euclidean"].predictions.scores(metric_named("accuracy")))
    width = min(len(curve) for curve in curves)
    reached = 100 * np.mean([curve[:width] for curve in curves], axis=0).max()
    value, deviation = CHOSEN_BY_LEAVING_ONE_OUT[method, train_size]
    assert reached == pytest.approx(value, abs=3 * deviation * np.sqrt(1 / repeats + 1 / REPEATS))

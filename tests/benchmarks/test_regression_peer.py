"""The multi-view regressor beside himalaya's MultipleKernelRidgeCV: R^2 and processor time on the same kernels.

Both are given the kernels of the dictionary as matrices, so that neither time is that of kernels. Himalaya (NumPy,
random search and gradient descent) has the regressor's ridges and five inner folds. Run with ``OMP_NUM_THREADS=1``:
ten minutes on an idle core, nearly all of them himalaya's.

- pregnancy: one woman is left out, rows that were filled in upstream are missing views;
- wheat: two traits of four, the official ten folds;
- mfeat: 20 targets, the first Karhunen-Loeve coefficients, from the other views; 300 samples, 400 tested. Here learned
  weights are worth much, and the regressor takes them alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from mklearn import MultiViewRegressor
from mklearn.kernels import Pairwise, StackTransform, Views
from mklearn.kernels.dictionary import kernel_dictionary
from mklearn.regressors.ridge_regressor import ALPHAS

pytestmark = pytest.mark.benchmark
Split = tuple[np.ndarray, np.ndarray]


def table(folder: Path, view: str) -> np.ndarray:
    return pd.read_csv(folder / f"{view}.csv.gz", index_col=0).to_numpy(float)


def pregnancy(mirror: Path) -> tuple[Views, np.ndarray, np.ndarray | None, list[Split]]:
    folder = mirror / "pregnancy"
    samples = pd.read_csv(folder / "samples.csv", keep_default_na=False)
    tables = {path.name.split(".")[0]: table(folder, path.name.split(".")[0]) for path in folder.glob("*.csv.gz")}
    for name, values in tables.items():
        values[samples["filled_upstream"].str.contains(name)] = np.nan
    women = samples["group"].to_numpy()
    splits = [(np.flatnonzero(women != each), np.flatnonzero(women == each)) for each in np.unique(women)]
    return Views(tables), samples[["gestational_week"]].to_numpy(float), women, splits


def wheat(mirror: Path) -> tuple[Views, np.ndarray, None, list[Split]]:
    folder = mirror / "wheat"
    samples = pd.read_csv(folder / "samples.csv")
    views = Views({"markers": table(folder, "markers"), "pedigree": Pairwise(table(folder, "kernel_pedigree"))})
    fold = samples["fold"].to_numpy()
    splits = [(np.flatnonzero(fold != each), np.flatnonzero(fold == each)) for each in np.unique(fold)]
    return views, samples[["yield_env1", "yield_env4"]].to_numpy(float), None, splits


def mfeat(mirror: Path) -> tuple[Views, np.ndarray, None, list[Split]]:
    folder = mirror / "mfeat"
    rows = np.random.default_rng(0).permutation(2000)[:800]
    views = Views({name: table(folder, name)[rows] for name in ("fou", "zer", "mor", "fac")})
    return views, table(folder, "kar")[rows, :20], None, [(np.arange(300), np.arange(400, 800))]


def peers(n_kernels: int) -> dict[str, Any]:
    kernel_ridge = pytest.importorskip("himalaya.kernel_ridge")

    def made(solver: str, **parameters: Any) -> Any:
        return kernel_ridge.MultipleKernelRidgeCV(
            kernels="precomputed", solver=solver, cv=5, random_state=0, solver_params=parameters
        )

    search = {"n_iter": 100, "alphas": np.array(ALPHAS) * 100, "progress_bar": False}
    descent = {"max_iter": 50, "progress_bar": False}
    return {"random search": made("random_search", **search), "gradient": made("hyper_gradient", **descent)}


def kernels_of(views: Views, splits: list[Split]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for train, test in splits:
        transform = StackTransform(kernel_dictionary(views[train]), drop_constant=True)
        stack = np.stack(list(transform.fit_transform(views[train])))
        yield stack, np.stack(list(transform.new_kernels(views[test])))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", [pregnancy, mfeat, wheat], ids=lambda data: data.__name__)
def test_beside_himalaya(mirror: Path, data: Any) -> None:
    views, Y, groups, splits = data(mirror / "multiview")
    found: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}
    for (stack, new), (train, test) in zip(kernels_of(views, splits), splits, strict=True):
        mean = Y[train].mean(axis=0)
        own = MultiViewRegressor(kernels="precomputed")
        for name, model in {"mklearn": own, **peers(len(stack))}.items():
            start = time.process_time()
            if name == "mklearn":
                model.fit(np.moveaxis(stack, 0, -1), Y[train], groups=None if groups is None else groups[train])
                made = model.predict(np.moveaxis(new, 0, -1))
            else:
                made = np.asarray(model.fit(stack, Y[train] - mean).predict(new)) + mean
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - start
            found.setdefault(name, np.full(Y.shape, np.nan))[test] = made
    tested = np.concatenate([test for _, test in splits])
    values = {name: r2_score(Y[tested], made[tested]) for name, made in found.items()}
    for name, value in values.items():
        print(f"{data.__name__:10} {name:14} R^2 {value:.3f} {seconds[name]:7.1f} s")
    for name in peers(1):
        assert values["mklearn"] >= values[name] - 0.005
        assert seconds["mklearn"] <= seconds[name] / 2

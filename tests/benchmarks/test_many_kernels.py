"""Select among 1,000 kernels of groups of columns on 1,000 molecules: seconds, groups selected, skglm's group lasso.

The features are the fingerprints of bace; the groups are drawn, and eight of them determine the classes, with noise.
skglm fits the squared loss to the centred classes with the penalty on the same groups, along 20 penalties.
"""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mklearn import MultiViewClassifier
from mklearn.inspection import stability_selection

pytestmark = pytest.mark.benchmark
N_KERNELS, WIDTH, N_TRUE, N_TRAIN = 1000, 10, 8, 1000
MOST_SECONDS = 60.0


@pytest.fixture(scope="module")
def planted(mirror: Path) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray], set[str]]:
    folder = mirror / "multiview" / "bace"
    tables = [pd.read_csv(folder / f"{view}.csv.gz", index_col=0) for view in ("morgan", "maccs", "atompair")]
    X = np.hstack([table.to_numpy(float) for table in tables])
    X = X[:, X.std(axis=0) > 0.1]
    rng = np.random.default_rng(0)
    groups = {f"g{number}": rng.choice(X.shape[1], WIDTH, replace=False) for number in range(N_KERNELS)}
    true = {f"g{number}" for number in rng.choice(N_KERNELS, N_TRUE, replace=False)}
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    parts = [Z[:, groups[name]] @ rng.standard_normal(WIDTH) for name in sorted(true)]
    score = sum(part / part.std() for part in parts)
    score = score / score.std() + 0.7 * rng.standard_normal(len(X))
    order = rng.permutation(len(X))
    return X[order], (score > np.median(score)).astype(int)[order], groups, true


def test_selecting_kernels_and_their_stability_takes_at_most_a_minute(planted: tuple) -> None:
    X, y, groups, true = planted
    specs = {name: {"kind": "linear", "columns": c, "feature_scaling": "standard"} for name, c in groups.items()}
    start = time.process_time()
    model = MultiViewClassifier(kernels=specs, n_kernels=15).fit(X[:N_TRAIN], y[:N_TRAIN])
    fit_seconds = time.process_time() - start
    chosen = {name for name, weight in zip(model.kernel_ids_, model.kernel_weights_, strict=True) if weight > 0}
    print(f"\nn_kernels=15: {len(chosen)} chosen, {len(chosen & true)} of {N_TRUE} true, {fit_seconds:.1f} s, ", end="")
    print(f"{model.score(X[N_TRAIN:], y[N_TRAIN:]):.1%}")
    start = time.process_time()
    selection = stability_selection(specs, X[:N_TRAIN], y[:N_TRAIN], n_kernels=15, n_pairs=25)
    seconds = time.process_time() - start
    for threshold in (0.6, 0.75, 0.9):
        stable, bound = set(selection.stable(threshold)), selection.false_selections(threshold)
        print(f"threshold {threshold}: {len(stable)} stable, {len(stable & true)} true, bound {bound:.2f} false")
    print(f"{selection.n_halves} halves in {seconds:.1f} s")
    assert max(fit_seconds, seconds) < MOST_SECONDS


def test_a_group_lasso_of_skglm_on_the_same_groups(planted: tuple) -> None:
    skglm = pytest.importorskip("skglm", reason="skglm is not installed: pip install skglm")
    from skglm.datafits import QuadraticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupBCD

    X, y, groups, true = planted
    Z = (X - X[:N_TRAIN].mean(axis=0)) / X[:N_TRAIN].std(axis=0)
    Z = np.asfortranarray(Z[:, np.concatenate(list(groups.values()))])
    train, labels = np.asfortranarray(Z[:N_TRAIN]), y[:N_TRAIN] - y[:N_TRAIN].mean()
    grouping = np.arange(0, Z.shape[1] + 1, WIDTH, dtype=np.int32), np.arange(Z.shape[1], dtype=np.int32)
    weights = np.full(N_KERNELS, np.sqrt(WIDTH))
    blocks = (train.T @ labels).reshape(N_KERNELS, WIDTH)
    largest = np.linalg.norm(blocks, axis=1).max() / N_TRAIN / weights[0]
    for fraction in np.geomspace(0.95, 0.05, 20):
        datafit, penalty = QuadraticGroup(*grouping), WeightedGroupL2(fraction * largest, weights, *grouping)
        model = skglm.GeneralizedLinearEstimator(datafit, penalty, GroupBCD(tol=1e-4)).fit(train, labels)
        nonzero = np.linalg.norm(model.coef_.reshape(N_KERNELS, WIDTH), axis=1) > 0
        chosen = {name for name, each in zip(groups, nonzero, strict=True) if each}
        accuracy = np.mean((Z[N_TRAIN:] @ model.coef_ + y[:N_TRAIN].mean() > 0.5) == y[N_TRAIN:])
        print(f"\n{fraction:.2f}: {len(chosen)} chosen, {len(chosen & true)} true, {accuracy:.1%}", end="")

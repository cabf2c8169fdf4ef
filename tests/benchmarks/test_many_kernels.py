"""Select among 1,000 kernels of groups of columns on 1,000 molecules: seconds and groups selected.

The features are the fingerprints of bace; the groups are drawn, and eight of them determine the classes, with noise.
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

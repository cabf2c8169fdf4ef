"""Few of many kernels: how often each is chosen from halves of the samples, and the classifier on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mklearn import MultiViewClassifier
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels import StackTransform, group_kernels
from mklearn.stability_selection import SelectionFrequencies, _complementary_halves, stability_selection


def planted(n: int = 300, n_groups: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray, list]:
    """Return samples, classes that the first three groups of columns make, and a kernel of each group."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5 * n_groups))
    score = X[:, :15] @ rng.choice([-1.0, 1.0], 15) + rng.standard_normal(n)
    groups = {f"g{number}": list(range(5 * number, 5 * number + 5)) for number in range(n_groups)}
    return X, np.where(score > np.median(score), "high", "low"), group_kernels(groups, X)


def test_planted_groups_are_stable_and_others_are_not() -> None:
    X, y, specs = planted()
    found = stability_selection(specs, X, y, n_kernels=4, n_pairs=15)
    assert set(found.stable(0.75)) == {"g0", "g1", "g2"}
    assert found.n_halves == 30
    assert 3 <= found.mean_chosen <= 4
    assert found.false_selections(0.75) == pytest.approx(found.mean_chosen**2 / (0.5 * 60))
    assert found.ranked()[0][1] == found.frequencies.max()


@pytest.mark.full
def test_classes_without_a_cause_have_no_more_stable_kernels_than_the_bound() -> None:
    X, y, specs = planted(n=120)
    rng, counts, bounds = np.random.default_rng(1), [], []
    for _ in range(6):
        found = stability_selection(specs, X, rng.permutation(y), n_kernels=5, n_pairs=10)
        counts.append(len(found.stable(0.6)))
        bounds.append(found.false_selections(0.6))
    assert np.mean(counts) <= np.mean(bounds)


def test_halves_are_complementary_with_equal_class_frequencies() -> None:
    codes = np.repeat([0, 1, 2], [20, 10, 6])
    halves = _complementary_halves(codes, None, 4, 0)
    assert len(halves) == 8
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        assert sorted([*first, *second]) == list(range(36))
        np.testing.assert_array_equal(np.bincount(codes[first]), [10, 5, 3])
    assert not np.array_equal(halves[0], halves[2])


def test_groups_of_samples_stay_together() -> None:
    patients = np.repeat(np.arange(15), 2)
    for half in _complementary_halves(np.arange(30) // 10, patients, 3, 0):
        assert not set(patients[half]) & set(patients[np.setdiff1d(np.arange(30), half)])
    X, y, specs = planted(n=30, n_groups=4)
    with pytest.raises(DataError, match="groups have shape"):
        stability_selection(specs, X, y, n_kernels=2, groups=[1, 2])
    with pytest.raises(DataError, match="groups has missing entries"):
        stability_selection(specs, X, y, n_kernels=2, groups=[None, *"ab" * 14, "c"])


def test_thresholds_and_numbers_out_of_range_are_refused() -> None:
    found = SelectionFrequencies(("a", "b"), np.array([1.0, 0.5]), 1.5, 2)
    assert found.stable() == ("a",)
    for threshold in (0.5, 1.1):
        with pytest.raises(ConfigError, match="threshold"):
            found.false_selections(threshold)
    X, y, specs = planted(n=30, n_groups=4)
    with pytest.raises(ConfigError, match="n_pairs"):
        stability_selection(specs, X, y, n_kernels=2, n_pairs=0)


@pytest.mark.full
def test_the_classifier_chooses_the_planted_groups_and_gives_the_others_no_weight() -> None:
    X, y, specs = planted(n=500)
    train, test = slice(0, 300), slice(300, None)
    every = MultiViewClassifier(kernels=specs, least_agreement=0).fit(X[train], y[train])
    few = MultiViewClassifier(kernels=specs, n_kernels=4).fit(X[train], y[train])
    assert few.kernel_ids_ == tuple(spec["id"] for spec in specs)
    chosen = np.flatnonzero(few.kernel_weights_)
    assert {0, 1, 2} <= set(chosen)
    assert len(chosen) <= 4
    np.testing.assert_array_equal(np.flatnonzero(few.shares_), chosen)
    assert few.kernel_weights_.sum() == pytest.approx(1)
    assert few.view_agreements_ == {}
    assert few.score(X[test], y[test]) > every.score(X[test], y[test])


@pytest.mark.parametrize("memory", [1.0, 1e-6])
def test_chosen_kernels_alone_give_the_same_classifier(memory: float) -> None:
    X, y, specs = planted(n=120, n_groups=20)
    few = MultiViewClassifier(kernels=specs, n_kernels=3, memory=memory).fit(X, y)
    chosen = np.flatnonzero(few.shares_)
    alone = MultiViewClassifier(kernels=[specs[number] for number in chosen], least_agreement=0).fit(X, y)
    np.testing.assert_allclose(few.decision_function(X[:9]), alone.decision_function(X[:9]), atol=1e-8)
    np.testing.assert_allclose(few.shares_[chosen], alone.shares_, atol=1e-8)


def test_kernels_that_are_given_are_chosen_alike() -> None:
    X, y, specs = planted(n=120, n_groups=20)
    transform = StackTransform(specs).fit(X[:100])
    given = MultiViewClassifier(kernels="precomputed", n_kernels=3)
    given.fit(transform.stack_train_.as_last_axis(), y[:100])
    computed = MultiViewClassifier(kernels=specs, n_kernels=3).fit(X[:100], y[:100])
    np.testing.assert_allclose(given.shares_, computed.shares_, atol=1e-8)
    new = transform.transform(X[100:]).as_last_axis()
    np.testing.assert_allclose(given.decision_function(new), computed.decision_function(X[100:]), atol=1e-8)


def test_few_kernels_with_landmarks_weights_of_samples_and_constant_columns() -> None:
    X, y, specs = planted(n=200, n_groups=12)
    X[:, 20:25] = 1.0  # the group g4
    weights = np.random.default_rng(0).integers(0, 3, 200)
    model = MultiViewClassifier(kernels=specs, n_kernels=3, landmarks=80)
    model.fit(X, y, sample_weight=weights)
    assert model.shares_[4] == 0
    assert len(np.flatnonzero(model.shares_)) <= 3
    assert clone(model).n_kernels == 3
    repeated = np.repeat(np.arange(200), weights)
    one = MultiViewClassifier(kernels=specs, n_kernels=3).fit(X, y, sample_weight=weights)
    two = MultiViewClassifier(kernels=specs, n_kernels=3).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(np.flatnonzero(one.shares_), np.flatnonzero(two.shares_))


@pytest.mark.full
def test_the_gene_that_separates_the_genotypes_best_is_stable(mirror: Path) -> None:
    folder = mirror / "multiview" / "nutrimouse"
    genes = pd.read_csv(folder / "gene.csv.gz", index_col=0)
    genotype = pd.read_csv(folder / "samples.csv", index_col="id").loc[genes.index, "genotype"].to_numpy()
    first, second = (genes[genotype == name] for name in np.unique(genotype))
    separation = (first.mean() - second.mean()).abs() / np.sqrt(first.var() + second.var())
    specs = group_kernels({name: [name] for name in genes.columns}, genes)
    found = stability_selection(specs, genes, genotype, n_kernels=5, n_pairs=20)
    assert separation.idxmax() in found.stable(0.75)
    assert found.false_selections(0.75) < 0.5


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.linspace(0, 1, 60), "class labels"),
        ([None, *"ab" * 29, "a"], "missing labels"),
    ],
)
def test_numbers_and_missing_labels_are_no_classes(y: object, words: str) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(DataError, match=words):
        stability_selection(["linear", "gaussian"], X, y, n_kernels=1, n_pairs=2)


def test_one_group_has_no_halves() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(NotApplicable, match="all samples are in one group"):
        stability_selection({"a": "linear"}, X, np.arange(20) % 2, n_kernels=1, groups=np.zeros(20))

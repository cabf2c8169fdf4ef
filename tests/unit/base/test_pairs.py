"""Features of pairs: fitted on training images alone, symmetric; and one choice of parameters for all folds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from tests.scores import scores

from mklearn.base.pairs import ComparedSamples, PairView
from mklearn.base.side_by_side import SideBySide
from mklearn.contract.fit_spec import EvaluationSpec, Implementation, InputSpec, MethodSpec
from mklearn.errors import DataError, NotApplicable
from mklearn.kernels import StackTransform, Views
from mklearn.study.evaluation import split as split_module
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.split import choose_once, evaluate_split

RNG = np.random.default_rng(0)
TABLES = [RNG.normal(size=(40, 6)), RNG.normal(size=(40, 9))]
FIRST, SECOND = np.arange(0, 40, 2), np.arange(1, 40, 2)
TRAIN, TEST = np.arange(12), np.arange(12, 20)


def pair_views(*tables: np.ndarray, first: np.ndarray = FIRST, second: np.ndarray = SECOND, **options: Any) -> Views:
    options = {"components": 3} | options
    return Views([PairView(first, second, ComparedSamples(table, **options)) for table in tables])


def pair_features(views: Views) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of training pairs, which are fitted to them, and of test pairs."""
    made = SideBySide().fit(views[TRAIN])
    return made.transform(views[TRAIN]), made.transform(views[TEST])


def test_shapes_and_order_of_descriptors() -> None:
    known, asked = pair_features(pair_views(*TABLES))
    assert (known.shape, asked.shape) == ((12, 12), (8, 12))
    alone, _ = pair_features(pair_views(TABLES[1]))
    np.testing.assert_array_equal(known[:, 6:], alone)


def test_exchanging_the_samples_of_a_pair_changes_nothing() -> None:
    swap = np.arange(20) % 3 == 0
    other = pair_views(*TABLES, first=np.where(swap, SECOND, FIRST), second=np.where(swap, FIRST, SECOND))
    for one, two in zip(pair_features(pair_views(*TABLES)), pair_features(other), strict=True):
        np.testing.assert_array_equal(one, two)


def test_nothing_of_test_images_enters_the_training_features() -> None:
    changed = [table.copy() for table in TABLES]
    for table in changed:
        table[24:] = 100 * RNG.normal(size=table[24:].shape)
    (known, asked), (same, _) = (pair_features(pair_views(*tables)) for tables in (TABLES, changed))
    np.testing.assert_allclose(same, known, atol=1e-12)
    changed[0][0] += 1.0  # an image of a training pair
    assert not np.allclose(pair_features(pair_views(*changed))[1], asked)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("unit_length", [False, True])
def test_components_are_those_of_the_training_images_each_of_which_counts_once(whiten: bool, unit_length: bool) -> None:
    first = np.where(np.arange(20) < 12, 0, FIRST)
    options = {"whiten": whiten, "unit_length": unit_length, "terms": ["product"]}
    found = pair_features(pair_views(TABLES[0], first=first, **options))
    learned = TABLES[0][np.r_[0, SECOND[TRAIN]]]
    expected = PCA(3, svd_solver="full", whiten=whiten).fit(learned).transform(TABLES[0])
    if unit_length:
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    # Only 6 features: the randomised decomposition is exact. Products do not depend on signs.
    for part, features in zip((TRAIN, TEST), found, strict=True):
        np.testing.assert_allclose(features, expected[first[part]] * expected[SECOND[part]], atol=1e-4)


def test_square_roots_and_the_features_themselves() -> None:
    options = {"components": None, "unit_length": False, "terms": ["absolute_difference"]}
    found, _ = pair_features(pair_views(TABLES[0] ** 2, square_root=True, **options))
    expected = np.abs(TABLES[0])
    np.testing.assert_allclose(found, np.abs(expected[FIRST[TRAIN]] - expected[SECOND[TRAIN]]), atol=1e-6)
    with pytest.raises(DataError, match="square_root"):
        pair_views(TABLES[0], square_root=True)


# --- evaluation


def people(n: int = 30, d: int = 5) -> tuple[np.ndarray, Any, np.ndarray]:
    """Return images of persons, what makes a view of pairs of them, every second of one person, and their classes."""
    rng = np.random.default_rng(1)
    table = np.repeat(rng.normal(size=(n, d)), 2, axis=0) + 0.2 * rng.normal(size=(2 * n, d))
    first = np.repeat(np.arange(0, 2 * n, 2), 2)
    second = np.where(np.arange(2 * n) % 2, first + 1, np.roll(first, 2) + 1)
    return table, lambda table: PairView(first, second, ComparedSamples(table, components=d)), np.arange(2 * n) % 2


EVALUATION = EvaluationSpec(neighbours=["euclidean"], inner_folds=3)


def method(kind: str, entry: Any = None, **more: Any) -> MethodSpec:
    return MethodSpec(
        id="m", inputs={kind: InputSpec(kind=kind, **(entry or {}))},  # type: ignore[dict-item, arg-type]
        sweep=Implementation(implementation="mklearn.study.evaluation.sweeps:Predictions"), **more,
    )  # fmt: skip


LINEAR_SVC = "mklearn.classifiers.linear_svc:linear_svc"
SVC = method("features", {"descriptors": ["t"]}, implementation=LINEAR_SVC, grid={"C": [0.1, 10.0]})


def test_a_method_on_features_recognises_pairs() -> None:
    table, pairs, y = people()
    entry = {"descriptors": ["t"], "feature_scaling": "standard"}
    svc = method("features", entry, implementation=LINEAR_SVC, grid={"C": [0.1, 10.0]})
    problem = MethodOnViews(Views({"t": pairs(table)}), y, svc)
    train, test = np.arange(40), np.arange(40, 60)
    groups = (np.arange(60) // 10).astype(str)
    found = evaluate_split(problem, train, test, evaluation=EVALUATION, seed=0, groups=groups)
    assert scores(found.rules[""])[0] >= 0.85
    assert scores(found.rules[""], "equal_error_rate")[0] <= 0.15


def test_kernels_are_those_of_the_features_of_pairs() -> None:
    table, pairs, _ = people()
    train, test = np.arange(40), np.arange(40, 60)
    kernel = {"id": "k", "kind": "linear", "view": "t", "feature_scaling": "standard", "centre": False,
              "normalise": "none"}  # fmt: skip
    views = Views({"t": pairs(table)})
    transform = StackTransform([kernel]).fit(views[train])
    scaled = SideBySide(["t"], "standard").fit(views[train])
    known, asked = scaled.transform(views[train]), scaled.transform(views[test])
    np.testing.assert_allclose(transform.stack_train_.matrices[0], known @ known.T, atol=1e-9)
    np.testing.assert_allclose(transform.transform(views[test]).matrices[0], asked @ known.T, atol=1e-9)


def test_parameters_are_chosen_once_on_parts_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    table, pairs, y = people()
    problem = MethodOnViews(Views({"t": pairs(table)}), y, SVC)
    parts = {"train": np.arange(20), "validation": np.arange(20, 40)}
    chosen = choose_once(problem, [tuple(parts.values())], evaluation=EVALUATION)
    assert chosen is not None
    by_hand = []
    for number in (0, 1):
        fixed = SVC.model_copy(update={"grid": {"C": [SVC.grid["C"][number]]}})
        result = evaluate_split(replace(problem, method=fixed), *parts.values(), evaluation=EVALUATION, seed=0)
        by_hand.append(scores(result.rules[""])[0])
    assert chosen.by_rule == {"": (int(np.argmax(by_hand)), -1)}

    fitted = []
    fit = split_module.Fits.fit
    monkeypatch.setattr(split_module.Fits, "fit", lambda *a: fitted.append(a) or fit(*a))
    wanted = replace(chosen, by_rule={"": (1, -1)})
    result = evaluate_split(problem, np.arange(40), np.arange(40, 60), evaluation=EVALUATION, seed=0, shared=wanted)
    assert len(fitted) == 1
    assert result.rules[""].candidate.parameters == {"C": 10.0}


def test_nothing_to_choose_and_no_candidate() -> None:
    table, pairs, y = people()
    problem = MethodOnViews(Views({"t": pairs(table)}), y, SVC)
    fixed = replace(problem, method=SVC.model_copy(update={"grid": {"C": [1.0]}}))
    assert choose_once(fixed, [(np.arange(20), np.arange(20, 40))], evaluation=EVALUATION) is None
    with pytest.raises(NotApplicable, match="one class"):
        choose_once(problem, [(np.arange(1, 40, 2), np.arange(40, 60))], evaluation=EVALUATION)
    with pytest.raises(NotApplicable, match="one class"):
        evaluate_split(fixed, np.arange(1, 40, 2), np.arange(40, 60), evaluation=EVALUATION, seed=0)


def test_weights_by_accuracy_are_chosen_once() -> None:
    table, pairs, y = people()
    noise = np.random.default_rng(2).normal(size=table.shape)
    kernels = [
        {"id": name, "kind": "linear", "view": name, "feature_scaling": "standard"} for name in ("table", "noise")
    ]
    views = Views({"table": pairs(table), "noise": pairs(noise)})
    svc = method(
        "kernels", implementation="mklearn.classifiers.kernel_svc:KernelSVC", kernel_choice="cv_accuracy",
        parameters={"C": 1.0, "kernel_weights": "uniform"},
    )  # fmt: skip
    problem = MethodOnViews(views, y, svc, kernels)
    chosen = choose_once(problem, [(np.arange(20), np.arange(20, 40))], evaluation=EVALUATION)
    assert chosen is not None
    weights = chosen.parameters["kernel_weights"]
    assert sum(weights) == pytest.approx(1)
    assert weights[0] > weights[1]
    result = evaluate_split(problem, np.arange(40), np.arange(40, 60), evaluation=EVALUATION, seed=0, shared=chosen)
    np.testing.assert_allclose(result.rules[""].fitted.weights, weights)

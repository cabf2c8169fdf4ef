"""Features of pairs: fitted on training images alone, symmetric; and one choice of parameters for all folds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mklearn.evaluation.inputs import Inputs
from mklearn.evaluation.pairs import PairedSamples, PairInput, PairKernelInput

from mklearn.contract.fit_spec import EvaluationSpec, Implementation, InputSpec, MethodSpec, PairFeatures
from mklearn.errors import NotApplicable
from mklearn.evaluation import split as split_module
from mklearn.evaluation.projections import ProjectedSamples
from mklearn.evaluation.split import choose_once, evaluate_split

SPEC = PairFeatures(
    components=3, square_root=False, whiten=True, unit_length=True, terms=["absolute_difference", "product"]
)
RNG = np.random.default_rng(0)
TABLES = [RNG.normal(size=(40, 6)), RNG.normal(size=(40, 9))]
FIRST, SECOND = np.arange(0, 40, 2), np.arange(1, 40, 2)
TRAIN, TEST = np.arange(12), np.arange(12, 20)
PAIRS = PairedSamples(FIRST, SECOND, SPEC)


def samples(table: np.ndarray) -> ProjectedSamples:
    """Return a descriptor whose projections are computed when they are asked for."""
    return ProjectedSamples(read_features=lambda: table)


def pair_features(pairs: PairedSamples, *tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return pairs.of([samples(table) for table in tables], TRAIN, TEST)


def test_shapes_and_order_of_descriptors() -> None:
    known, asked = pair_features(PAIRS, *TABLES)
    assert (known.shape, asked.shape) == ((12, 12), (8, 12))
    alone, _ = pair_features(PAIRS, TABLES[1])
    np.testing.assert_array_equal(known[:, 6:], alone)


def test_exchanging_the_samples_of_a_pair_changes_nothing() -> None:
    swap = np.arange(20) % 3 == 0
    other = PairedSamples(np.where(swap, SECOND, FIRST), np.where(swap, FIRST, SECOND), SPEC)
    for one, two in zip(pair_features(PAIRS, *TABLES), pair_features(other, *TABLES), strict=True):
        np.testing.assert_array_equal(one, two)


def test_nothing_of_test_images_enters_the_training_features() -> None:
    changed = [table.copy() for table in TABLES]
    for table in changed:
        table[24:] = 100 * RNG.normal(size=table[24:].shape)
    np.testing.assert_allclose(pair_features(PAIRS, *changed)[0], pair_features(PAIRS, *TABLES)[0], atol=1e-12)
    changed[0][0] += 1.0  # an image of a training pair
    assert not np.allclose(pair_features(PAIRS, *changed)[1], pair_features(PAIRS, *TABLES)[1])


def test_an_image_of_several_pairs_counts_once() -> None:
    often = replace(PAIRS, first=np.where(np.arange(20) < 12, 0, FIRST))
    learned = np.r_[0, SECOND[:12]]
    expected = samples(TABLES[0]).of(np.arange(40), np.sort(learned), SPEC)
    known, _ = pair_features(often, TABLES[0])
    np.testing.assert_allclose(known[:, :3], np.abs(expected[0] - expected[SECOND[:12]]), atol=1e-5)


# --- evaluation


def people(n: int = 30, d: int = 5) -> tuple[np.ndarray, PairedSamples, np.ndarray]:
    """Return images of persons, pairs of them in which every second is of one person, and their classes."""
    rng = np.random.default_rng(1)
    table = np.repeat(rng.normal(size=(n, d)), 2, axis=0) + 0.2 * rng.normal(size=(2 * n, d))
    first = np.repeat(np.arange(0, 2 * n, 2), 2)
    second = np.where(np.arange(2 * n) % 2, first + 1, np.roll(first, 2) + 1)
    features = SPEC.model_copy(update={"components": d})
    return table, PairedSamples(first, second, features), np.arange(2 * n) % 2


EVALUATION = EvaluationSpec(neighbours=["euclidean"], inner_folds=3, metrics=["accuracy", "equal_error_rate"])


def method(kind: str, **more: Any) -> MethodSpec:
    return MethodSpec(
        id="m", inputs={kind: InputSpec(kind=kind)},  # type: ignore[dict-item, arg-type]
        sweep=Implementation(implementation="mklearn.evaluation.sweeps:Predictions"), **more,
    )  # fmt: skip


SVC = method("features", implementation="mklearn.classifiers.linear_svc:linear_svc", grid={"C": [0.1, 10.0]})


def test_a_method_on_features_recognises_pairs() -> None:
    table, pairs, y = people()
    inputs = Inputs({"features": PairInput([samples(table)], pairs, feature_scaling="standard")})
    train, test = np.arange(40), np.arange(40, 60)
    groups = (np.arange(60) // 10).astype(str)
    found = evaluate_split(inputs, SVC, y, train, test, evaluation=EVALUATION, seed=0, groups=groups)
    scores = found.rules[""].scores
    assert scores["accuracy"][0] >= 0.85
    assert scores["equal_error_rate"][0] <= 0.15


def test_kernels_are_those_of_the_features_of_pairs() -> None:
    table, pairs, _ = people()
    train, test = np.arange(40), np.arange(40, 60)
    kernel = {"id": "k", "kind": "linear", "features": "t", "feature_scaling": "standard", "centre": False,
              "normalise": "none"}  # fmt: skip
    found = PairKernelInput({}, [kernel], descriptors={"t": samples(table)}, pairs=pairs).prepare(train, test)
    known, asked = PairInput([samples(table)], pairs, feature_scaling="standard").prepare(train, test)
    assert asked is not None
    np.testing.assert_allclose(found.arrays(None)[0][:, :, 0], known @ known.T, atol=1e-9)
    np.testing.assert_allclose(found.arrays(None)[1][:, :, 0], asked @ known.T, atol=1e-9)


def test_parameters_are_chosen_once_on_parts_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    table, pairs, y = people()
    inputs = Inputs({"features": PairInput([samples(table)], pairs)})
    parts = {"train": np.arange(20), "validation": np.arange(20, 40)}
    chosen = choose_once(inputs, SVC, y, *parts.values(), evaluation=EVALUATION)
    assert chosen is not None
    by_hand = []
    for number in (0, 1):
        fixed = SVC.model_copy(update={"grid": {"C": [SVC.grid["C"][number]]}})
        result = evaluate_split(inputs, fixed, y, *parts.values(), evaluation=EVALUATION, seed=0)
        by_hand.append(result.rules[""].scores["accuracy"][0])
    assert chosen.by_rule == {"": (int(np.argmax(by_hand)), -1)}

    fitted = []
    fit = split_module.Fits.fit
    monkeypatch.setattr(split_module.Fits, "fit", lambda *a: fitted.append(a) or fit(*a))
    wanted = replace(chosen, by_rule={"": (1, -1)})
    result = evaluate_split(
        inputs, SVC, y, np.arange(40), np.arange(40, 60), evaluation=EVALUATION, seed=0, shared=wanted
    )
    assert len(fitted) == 1
    assert result.rules[""].candidate.parameters == {"C": 10.0}


def test_nothing_to_choose_and_no_candidate() -> None:
    table, pairs, y = people()
    inputs = Inputs({"features": PairInput([samples(table)], pairs)})
    fixed = SVC.model_copy(update={"grid": {"C": [1.0]}})
    assert choose_once(inputs, fixed, y, np.arange(20), np.arange(20, 40), evaluation=EVALUATION) is None
    with pytest.raises(NotApplicable, match="one class"):
        choose_once(inputs, SVC, y, np.arange(1, 40, 2), np.arange(40, 60), evaluation=EVALUATION)
    with pytest.raises(NotApplicable, match="one class"):
        evaluate_split(inputs, fixed, y, np.arange(1, 40, 2), np.arange(40, 60), evaluation=EVALUATION, seed=0)


def test_weights_by_accuracy_are_chosen_once() -> None:
    table, pairs, y = people()
    noise = np.random.default_rng(2).normal(size=table.shape)
    kernels = [
        {"id": name, "kind": "linear", "features": name, "feature_scaling": "standard"} for name in ("table", "noise")
    ]
    descriptors = {"table": samples(table), "noise": samples(noise)}
    inputs = Inputs({"kernels": PairKernelInput({}, kernels, descriptors=descriptors, pairs=pairs)})
    svc = method(
        "kernels", implementation="mklearn.classifiers.kernel_svc:KernelSVC", kernel_choice="cv_accuracy",
        parameters={"C": 1.0, "kernel_weights": "uniform"},
    )  # fmt: skip
    chosen = choose_once(inputs, svc, y, np.arange(20), np.arange(20, 40), evaluation=EVALUATION)
    assert chosen is not None
    weights = chosen.method.parameters["kernel_weights"]
    assert sum(weights) == pytest.approx(1)
    assert weights[0] > weights[1]
    result = evaluate_split(
        inputs, svc, y, np.arange(40), np.arange(40, 60), evaluation=EVALUATION, seed=0, shared=chosen
    )
    np.testing.assert_allclose(result.rules[""].fitted.weights, weights)

"""Null control: uniform p-values on noise, the smallest on digits, sentences on the page and in ``validate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from scipy.stats import kstest
from sklearn.datasets import load_digits
from tests.unit.study.small_study import run_study, working_in, write_tables

from mklearn.__main__ import main
from mklearn.base.permutation import PermutationTest
from mklearn.kernels.views import Views
from mklearn.methods import METHODS
from mklearn.study.artefacts import write_arrays
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.null_control import NullControl, null_test
from mklearn.study.specs.fit_spec import EvaluationSpec, FitSpec, InputSpec, MethodSpec, NullSpec, Setting
from mklearn.survival import MultiViewSurvival

CLASSIFIER, REGRESSOR = "multi_view", "multi_view_regressor"


def controlled(
    kind: str, views: dict[str, NDArray[Any]], y: NDArray[Any], n_shuffles: int, groups: Any = None, seed: int = 0,
    **parameters: Any,
) -> tuple[PermutationTest, str]:  # fmt: skip
    method = MethodSpec(
        id=kind, implementation=METHODS[kind].implementation, parameters=parameters,
        inputs={"kernels": InputSpec(kind="kernels", descriptors=sorted(views))},
    )  # fmt: skip
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=3)
    setting = Setting(protocol="null", train_size=None)
    fit = FitSpec(dataset="d", settings=[setting], method=method, evaluation=evaluation, seed=seed)
    problem = MethodOnViews(Views(views), y, method, groups=groups)
    return null_test(problem, NullSpec(fit=fit, n_shuffles=n_shuffles))


@pytest.mark.full
@pytest.mark.parametrize("kind", [CLASSIFIER, REGRESSOR])
def test_p_is_uniform_on_noise(kind: str) -> None:
    """A p-value is a multiple of 1 / (1 + n_shuffles): less a random part of one step, it has a uniform density."""
    rng, p_values = np.random.default_rng(3), []
    n_draws, n_shuffles, sizes = 200, 4, [*4 * [(40, 2), (60, 10)], (40, 5), (200, 3)]
    for draw in range(n_draws):
        n, n_classes = sizes[draw % len(sizes)]
        y = rng.permutation(np.arange(n) % n_classes) if kind == CLASSIFIER else rng.normal(size=n)
        views = {"a": rng.normal(size=(n, 4)), "b": rng.normal(size=(n, 30))}
        p_values.append(controlled(kind, views, y, n_shuffles, seed=draw)[0].p_value)
    steps = rng.uniform(size=n_draws) / (1 + n_shuffles)
    assert kstest(np.array(p_values) - steps, "uniform").pvalue > 0.01


def test_p_is_the_smallest_on_digits() -> None:
    X, y = load_digits(return_X_y=True)
    views = {"upper": X[:200, :32], "lower": X[:200, 32:]}
    test, _ = controlled(CLASSIFIER, views, y[:200], 9)
    assert test.p_value == 0.1
    assert test.score > 0.7 > 0.1 > test.shuffled.max()


def test_of_survival_at_several_times_the_score_is_the_mean() -> None:
    X, rng = load_digits().data[:60, :8], np.random.default_rng(0)
    views, y = {"upper": X[:, :4], "lower": X[:, 4:]}, rng.exponential(size=60)
    test, message = controlled("multi_view_survival", views, y, 2, times=[0.3, 0.6])
    model = MultiViewSurvival(times=[0.3, 0.6]).fit(Views(views), y)
    assert message == ""
    assert test.score == pytest.approx(np.mean(model.left_out_r2_))
    assert len(test.shuffled) == 2


def test_samples_of_a_group_are_left_out_and_shuffled_together() -> None:
    """Features tell the person, and the target is one of persons: it is not predicted for other persons."""
    rng, of = np.random.default_rng(0), np.repeat(np.arange(20), 4)
    views = {"a": rng.normal(size=(20, 6))[of] + 0.1 * rng.normal(size=(80, 6))}
    y = rng.permutation(np.arange(20) % 2)[of]
    assert controlled(CLASSIFIER, views, y, 4)[0].score > 0.8
    test, _ = controlled(CLASSIFIER, views, y, 4, groups=of.astype(str))
    assert max(test.score, *test.shuffled) < 0.2


@pytest.mark.parametrize(
    ("score", "shuffled", "message", "is_passed", "sentence"),
    [
        (0.8, [0.1, -0.05], "", True, "R² of m is 0.80, on 2 shuffled targets at most 0.10 (p = 0.333)"),
        (0.05, [0.1, -0.05], "", False, "0.10 (p = 0.667): the views are not shown to predict the target"),
        (np.nan, [], "all kernels are constant", False, "the null control of m has no result: all kernels are const"),
    ],
)
def test_the_sentence(
    tmp_path: Path, score: float, shuffled: list[float], message: str, is_passed: bool, sentence: str
) -> None:
    record = {"spec": {"fit": {"dataset": "d", "method": {"id": "m"}}}}
    write_arrays(tmp_path / "a.npz", record, score=score, shuffled=np.array(shuffled), message=message)
    control = NullControl.read(tmp_path / "a.npz")
    assert (control.dataset, control.is_passed) == ("d", is_passed)
    assert sentence in control.sentence


def test_a_failed_fit_is_a_result() -> None:
    test, message = controlled(REGRESSOR, {"a": np.ones((9, 2))}, np.arange(9.0), 2)
    assert np.isnan(test.score)
    assert "constant" in message


def test_a_study_shows_the_null_control(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    with working_in(tmp_path):
        for name, y in {"told": np.arange(40) % 2, "noise": rng.permutation(40) % 2}.items():
            table = rng.normal(size=(40, 3)) + (np.arange(40) % 2)[:, None]
            write_tables(tmp_path, {name: table}, [f"s{k}" for k in range(40)], label=y)
        tables = {name: {"kind": "feature_tables", "tables": {"t": f"{name}.csv"}} for name in ("told", "noise")}
        study: dict[Any, Any] = {"study": "s", "datasets": tables, "methods": {"m": {"kind": "multi_view"}}, None: 4}
        study["protocols"] = {"two": {"kind": "k_fold", "folds": 2}}
        Path("s.yaml").write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
        assert main(["validate", "s.yaml"]) == 0
        assert "note: told: the run fits m to 4 shuffled targets too (null)\n" in capsys.readouterr().out
        run_study(tmp_path, study)
        assert main(["validate", "s.yaml"]) == 0
        (told, noise) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("note: "))
        page = Path("results/s/report/index.html").read_text(encoding="utf-8")
        summary = Path("results/s/report/summary.md").read_text(encoding="utf-8")
    assert told.endswith("(p = 0.200)")
    assert "the views are not shown" in noise
    warned, shown = page.index("null control"), page.rindex("null control")
    assert page.index('<ul class="warnings"') < warned < page.index("About this study") < shown
    assert told.removeprefix("note: told: ") in page
    assert summary.count("null control") == 2

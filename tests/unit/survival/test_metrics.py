"""Metrics of survival against scikit-survival, their values per sample against draws, and what has no value."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm
from sksurv.metrics import brier_score, concordance_index_censored, concordance_index_ipcw, integrated_brier_score

from mklearn.errors import NotApplicable
from mklearn.survival import brier_scores, harrell_c, integrated_brier, signed_times, uno_c
from mklearn.survival.metrics import harrell_c_values, integrated_brier_values, uno_c_values

Array = NDArray[np.float64]


def draw(rng: np.random.Generator, n: int, censored: float = 0.4, decimals: int = 6) -> tuple[Array, Array]:
    """Times of exponential hazards and their risks, with a proportion of about `censored` random censoring."""
    risk = np.round(rng.normal(size=n), decimals)
    death = rng.exponential(np.exp(-risk))
    limit = rng.exponential(np.exp(-risk.mean()) * (1 - censored) / censored, n) if censored else np.full(n, np.inf)
    time = np.round(np.minimum(death, limit), decimals) + 10.0**-decimals
    return signed_times(time, death <= limit), risk


def structured(y: Array) -> NDArray[np.void]:
    return np.array(list(zip(y > 0, abs(y), strict=True)), dtype=[("event", bool), ("time", float)])


@pytest.mark.parametrize(("n", "decimals"), [(30, 6), (30, 1), (300, 6), (300, 1)])  # one decimal: ties everywhere
def test_equal_scikit_survival(n: int, decimals: int) -> None:
    rng = np.random.default_rng(n + decimals)
    (y_train, _), (y, risk) = (draw(rng, n, decimals=decimals) for _ in range(2))
    y = np.sign(y) * np.minimum(abs(y), 0.9 * abs(y_train[y_train < 0]).max())  # scikit-survival extrapolates nothing
    expected = concordance_index_censored(y > 0, abs(y), risk)[0]
    assert harrell_c(y, risk) == pytest.approx(expected, abs=1e-12)
    expected = concordance_index_ipcw(structured(y_train), structured(y), risk)[0]
    assert uno_c(y_train, y, risk) == pytest.approx(expected, abs=1e-12)
    times = np.unique(np.quantile(abs(y), np.linspace(0.1, 0.8, 9)))
    survival = np.exp(-np.exp(0.5 * risk)[:, None] * times)
    scores = brier_score(structured(y_train), structured(y), survival, times)[1]
    np.testing.assert_allclose(brier_scores(y_train, y, survival, times), scores, atol=1e-12)
    expected = integrated_brier_score(structured(y_train), structured(y), survival, times)
    assert integrated_brier(y_train, y, survival, times) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("censored", [0.0, 0.3, 0.6])
def test_values_of_samples_have_the_metric_as_mean_and_its_variance(censored: float) -> None:
    """Intervals of 95 % cover the value of many samples in 92.9 to 94.7 % of 1,500 draws. Those of a study's five folds
    cover 96 to 99 %: they allow for training samples that overlap.

    The concordance of Harrell's C is that of the pairs that this censoring leaves comparable.
    """
    rng = np.random.default_rng(1)
    times = np.array([0.1, 0.3, 0.6])
    y_train, _ = draw(rng, 2000, censored)
    many, risks = draw(rng, 8000, censored)

    def survival(risk: Array) -> Array:
        return np.exp(-np.exp(0.7 * risk)[:, None] * times)

    truths = (
        harrell_c(many, risks),
        uno_c(y_train, many, risks),
        integrated_brier(y_train, many, survival(risks), times),
    )
    covered, n_draws = np.zeros(3), 600
    for _ in range(n_draws):
        y, risk = draw(rng, 150, censored)
        values = (
            harrell_c_values(y, risk), uno_c_values(y_train, y, risk),
            integrated_brier_values(y_train, y, survival(risk), times),
        )  # fmt: skip
        means, errors = np.mean(values, axis=1), np.std(values, axis=1, ddof=1) / np.sqrt(len(y))
        covered += abs(means - truths) <= norm.ppf(0.975) * errors
    assert means == pytest.approx([harrell_c(y, risk), uno_c(y_train, y, risk),
                                   integrated_brier(y_train, y, survival(risk), times)])  # fmt: skip
    assert (abs(covered / n_draws - 0.95) < 0.025).all(), covered / n_draws


def test_what_has_no_value() -> None:
    censored = np.array([-1.0, -2.0, -3.0])
    for metric in (harrell_c, lambda y, risk: uno_c([1.0, -2.0], y, risk)):
        with pytest.raises(NotApplicable, match="two samples of which the earlier time has an event"):
            metric(censored, np.zeros(3))
    with pytest.raises(NotApplicable, match="all training samples are censored before 2: take earlier times"):
        brier_scores([1.0, -1.5], censored, np.zeros((3, 1)), [2.0])
    with pytest.raises(NotApplicable, match="survival functions are not finite"):
        brier_scores([1.0, -3.5], censored, np.full((3, 1), np.nan), [2.0])
    with pytest.raises(NotApplicable, match="integrated over two or more times, and all are 2"):
        integrated_brier([1.0, -3.5], censored, np.ones((3, 2)), [2.0, 2.0])

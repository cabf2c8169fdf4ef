"""Completion of kernels by other views: against C K C' with C written out."""

import numpy as np

from mklearn.base.view_completion import MixtureProducts, ViewCompletion

N, DONORS = 40, np.arange(0, 40, 2)


def kernels(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centred kernels of three views of N training samples and n more, rows of samples that lack a view zero."""
    rng = np.random.default_rng(0)
    factors, every = rng.normal(size=(N + n, 3)), []
    present = rng.random((N + n, 3)) > 0.25
    present[:N, 2] = True
    for view in range(3):
        Z = factors @ rng.normal(size=(3, 5)) + 0.3 * rng.normal(size=(N + n, 5))
        Z -= Z[:N][present[:N, view]].mean(axis=0)
        Z[~present[:, view]] = 0.0
        every.append(Z @ Z[:N].T / 15)
    return np.stack(every), present[:N], present[N:]


def completions(every: np.ndarray, present: np.ndarray) -> tuple[ViewCompletion, list[np.ndarray]]:
    completion = ViewCompletion(2 * every[:, DONORS], np.full(3, 0.5), DONORS, np.full(3, 1 / 3), present)
    total, matrices = every[:, :N].sum(axis=0), []
    for view in range(3):
        C, lacks = np.diag(present[:, view].astype(float)), ~present[:, view]
        C[np.ix_(lacks, DONORS)] = completion.regressions[view](total[np.ix_(lacks, DONORS)], present[lacks])
        matrices.append(C)
    return completion, matrices


def test_training_kernels() -> None:
    every, present, _ = kernels(0)
    completion, matrices = completions(every, present)
    assert completion.incomplete == [0, 1]
    for view, C in enumerate(matrices):
        expected = C @ every[view] @ C.T
        K = every[view].copy()
        completion.complete(view, K)
        np.testing.assert_allclose(K, expected, atol=1e-12)
        assert np.linalg.eigvalsh(K).min() > -1e-10
        own = every[view][np.ix_(DONORS, DONORS)].copy()
        completion.complete(view, own, of_donors=True)
        np.testing.assert_allclose(own, expected[np.ix_(DONORS, DONORS)], atol=1e-12)


def test_products_of_new_samples_that_lack_views() -> None:
    every, present, new_present = kernels(12)
    completion, matrices = completions(every, present)
    rng = np.random.default_rng(3)
    Z, used = rng.normal(size=(2, N, 4)), np.arange(N) + 1  # of N + 1 samples, the first is not used
    weights = np.array([1.0, 0.3])
    padded = np.concatenate([np.full((3, N + 12, 1), 7.0), every], axis=2)
    mixtures = [(np.full(3, w), values) for w, values in zip(weights, Z, strict=True)]
    donor_rows = [w * every[:, DONORS] for w in weights]
    products = MixtureProducts(mixtures, np.arange(3), used, N + 1, completion, donor_rows)
    found = products(padded[:, N:], new_present)
    total = every[:, N:].sum(axis=0)[:, DONORS]
    for w, values, result in zip(weights, Z, found, strict=True):
        expected = np.zeros_like(result)
        for view, C in enumerate(matrices):
            rows = every[view, N:] @ C.T
            lacks = ~new_present[:, view]
            b = completion.regressions[view](total[lacks], new_present[lacks])
            rows[lacks] = b @ (every[view, :N] @ C.T)[DONORS]
            expected += w * rows @ values
        np.testing.assert_allclose(result, expected, atol=1e-10)

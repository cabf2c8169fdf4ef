"""MKL-DR, alternating and convex: identities with its parts, invariances, optimality, discriminant analysis, digits."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh, subspace_angles
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits, make_moons
from tests.unit.subspace.problems import LABELS, features, gaussian_kernels, scatters

from mklearn.descriptors.hog import hog
from mklearn.descriptors.lbp import lbp
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.graphs import GraphPair, lda_graph, lde_graph, lpp_graph, mfa_graph
from mklearn.kernels import Views
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.graph_embedding import KernelProblem
from mklearn.subspace.convex_mkldr import ConvexMKLDR
from mklearn.subspace.kernel_lde import KernelLDE
from mklearn.subspace.kfd import KernelFDA
from mklearn.subspace.mkldr import MKLDR, MixedSignWarning, StartWeightsWarning


def scatter_matrices(model: MKLDR, kernels: np.ndarray, beta: np.ndarray | None = None) -> list[np.ndarray]:
    """S and S', ridge included, from dense matrices; by default for the weights of the model."""
    K = kernels @ (model.kernel_weights_ if beta is None else beta)
    scatters = [2 * K @ operator.toarray() @ K for operator in (model.graph_.L, model.graph_.L_prime)]
    rho = model.ridge * np.trace(scatters[1]) / len(K)
    return [scatter + rho * np.eye(len(K)) for scatter in scatters]


def joint_objective(model: MKLDR, kernels: np.ndarray, A: np.ndarray, beta: np.ndarray) -> float:
    """tr(A'SA)/tr(A'S'A)."""
    above, below = (np.trace(A.T @ scatter @ A) for scatter in scatter_matrices(model, kernels, beta))
    return above / below


@pytest.mark.parametrize("init", ["uniform", "orthonormal"])
def test_equal_weights_are_the_discriminant_on_the_average(init, monkeypatch):
    K = gaussian_kernels(0)
    monkeypatch.setattr("mklearn.subspace.mkldr.minimising_weights", None)  # no weight step: a call would fail
    model = MKLDR(init=init, ridge=1e-2, scaling="within", kernel_weights="uniform").fit(K, LABELS)
    plain = KernelFDA(ridge=1e-2, scaling="within").fit(K, LABELS)
    np.testing.assert_array_equal(model.kernel_weights_, np.full(3, 1 / 3))
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    assert (model.status_, model.n_iter_, model.best_iter_) == ("uniform", 0, 0)
    assert model.certificate_ == {"value": model.objective_}


@pytest.mark.parametrize("other", [{"a_step": "trace_ratio"}, {"graph": "lde"}, {}])
def test_equal_weights_are_the_start_of_the_alternation(other):
    K = gaussian_kernels(0)
    equal = MKLDR(**other, kernel_weights="uniform").fit(K, LABELS)
    start, learned = MKLDR(**other, max_iter=0).fit(K, LABELS), MKLDR(**other).fit(K, LABELS)
    np.testing.assert_array_equal(equal.embedding_, start.embedding_)
    assert equal.objective_ == start.objective_ == learned.objective_history_[0] >= learned.objective_


@pytest.mark.parametrize(("graph", "single"), [("lda", KernelFDA), ("lde", KernelLDE)])
def test_one_kernel_is_the_single_kernel_method(graph, single):
    K = gaussian_kernels(0)[..., 2]
    many, one = MKLDR(graph=graph).fit(K[..., None], LABELS), single().fit(K, LABELS)
    np.testing.assert_array_equal(many.kernel_weights_, [1.0])
    assert subspace_angles(many.coefficients_, one.coefficients_).max() < 1e-6
    np.testing.assert_allclose(pdist(many.embedding_), pdist(one.embedding_), rtol=1e-9)


@pytest.mark.parametrize("graph", ["lda", "lde"])
@pytest.mark.parametrize("init", ["uniform", "orthonormal"])
def test_result_is_the_a_step_for_its_weights(graph, init):
    kernels = gaussian_kernels(1)
    model = MKLDR(graph=graph, init=init).fit(kernels, LABELS)
    assert model.kernel_weights_.sum() == pytest.approx(1.0)
    assert (model.kernel_weights_ >= 0).all()
    S, S_prime = scatter_matrices(model, kernels)
    A = model.coefficients_
    np.testing.assert_allclose(A.T @ S_prime @ A, np.eye(2), atol=1e-8)
    np.testing.assert_allclose(S @ A, S_prime @ A * model.eigenvalues_, atol=1e-8 * np.abs(S_prime).max())
    assert model.objective_ == pytest.approx(joint_objective(model, kernels, A, model.kernel_weights_), rel=1e-8)
    assert model.objective_ == pytest.approx(model.eigenvalues_.mean(), rel=1e-8)


def test_history_is_the_joint_objective_and_the_beta_step_its_minimum():
    kernels = gaussian_kernels(2)
    model = MKLDR(max_iter=4, tol=0.0).fit(kernels, LABELS)
    assert [entry["step"] for entry in model.history_] == ["a", "beta"] * 4 + ["a"]
    np.testing.assert_array_equal(model.objective_history_, [entry["objective"] for entry in model.history_])
    assert [step["a_step_seconds"] for step in model.diagnostics_] == [a["seconds"] for a in model.history_[:-1:2]]
    assert model.n_iter_ == 4
    rng = np.random.default_rng(3)
    for earlier, later in zip(model.history_[::2], model.history_[1::2], strict=False):
        assert later["step"] == "beta"
        assert later["objective"] <= earlier["objective"] * (1 + 1e-10)
        assert later["lambda_min"] <= later["objective"] * (1 + 1e-9)
        # Refit the A of that iteration: no weights beat those of the exact beta-step.
        K = kernels @ earlier["weights"]
        A = KernelFDA(ridge=model.ridge).fit(K, LABELS).coefficients_
        assert joint_objective(model, kernels, A, earlier["weights"]) == pytest.approx(earlier["objective"], rel=1e-8)
        assert joint_objective(model, kernels, A, later["weights"]) == pytest.approx(later["objective"], rel=1e-8)
        for beta in rng.dirichlet(np.ones(3), size=30):
            assert joint_objective(model, kernels, A, beta) >= later["objective"] * (1 - 1e-9)


def test_best_iterate_is_returned_if_the_objective_increases():
    # Ratio-trace steps do not lower a ratio of traces. Find problems where the last iterate is not the best.
    risen = 0
    for seed in range(40):
        kernels = gaussian_kernels(seed, n=24, strength=0.2)
        model = MKLDR(3, ridge=1e-1, max_iter=8, tol=0.0).fit(kernels, np.arange(24) % 4)
        after_a = [entry["objective"] for entry in model.history_ if entry["step"] == "a"]
        assert model.objective_ == min(after_a)
        assert model.best_iter_ == int(np.argmin(after_a))
        objectives = model.objective_history_
        risen += bool((np.diff(objectives) > 1e-6 * objectives[:-1]).any())
    assert risen > 0, "no problem was found on which the rule matters"


@pytest.mark.parametrize("init", ["uniform", "orthonormal"])
def test_iterates_with_fewer_columns_are_not_preferred(init):
    # A kernel of rank one sets class 0 apart, perfectly, and has nothing to say about the other two.
    rng = np.random.default_rng(0)
    z = (LABELS == 0) + 1e-3 * rng.normal(size=36)
    z -= z.mean()
    noise = rng.normal(size=(36, 36))
    kernels = np.stack([np.outer(z, z), noise @ noise.T / 36], axis=-1)
    model = MKLDR(2, ridge=1e-2, init=init, max_iter=6).fit(kernels, LABELS)
    smallest = min(entry["objective"] for entry in model.history_ if entry["step"] == "a")
    assert smallest < model.objective_, "an iterate of one column has the smaller ratio"
    assert model.coefficients_.shape == (36, 2)
    assert (model.kernel_weights_ > 0).all()


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 3), st.sampled_from(["lda", "lde"]), st.sampled_from([1e-1, 1e-2, 1e-3]))
def test_trace_ratio_with_exact_weights_is_monotone(seed, p, graph, ridge):
    kernels, y = gaussian_kernels(seed, n=24), np.arange(24) % 4
    pair = lda_graph(y) if graph == "lda" else lde_graph([1 - kernels[..., 0]], y, k=3, k_prime=6)
    model = MKLDR(p, graph=pair, ridge=ridge, a_step="trace_ratio", max_iter=6, tol=0.0, scaling="orthonormal")
    objectives = model.fit(kernels).objective_history_
    assert (np.diff(objectives) <= 1e-9 * objectives[:-1]).all()
    # Against the iterates themselves; the end of a run may be a fixed point reached earlier.
    assert model.objective_ == pytest.approx(objectives.min(), rel=1e-9)
    A = model.coefficients_
    np.testing.assert_allclose(A.T @ A, np.eye(p), atol=1e-9)


def test_trace_ratio_features_can_be_rescaled():
    kernels = gaussian_kernels(4)
    plain = MKLDR(a_step="trace_ratio", scaling="orthonormal").fit(kernels, LABELS)
    scaled = MKLDR(a_step="trace_ratio").fit(kernels, LABELS)
    np.testing.assert_allclose(plain.coefficients_.T @ plain.coefficients_, np.eye(2), atol=1e-9)
    assert subspace_angles(plain.coefficients_, scaled.coefficients_).max() < 1e-6
    _, S_prime = scatter_matrices(scaled, kernels)
    np.testing.assert_allclose(scaled.coefficients_.T @ S_prime @ scaled.coefficients_, np.eye(2), atol=1e-8)
    assert scaled.eigenvalues_[0] <= scaled.eigenvalues_[1]


@pytest.mark.parametrize("graph", ["lda", "lde", "pca", "lpp"])
def test_common_scale_of_the_kernels_does_not_matter(graph):
    X = gaussian_kernels(5)
    a, b = (MKLDR(graph=graph).fit(c * X, LABELS) for c in (1.0, 50.0))
    np.testing.assert_allclose(a.kernel_weights_, b.kernel_weights_, atol=1e-8)
    np.testing.assert_allclose(pdist(a.embedding_), pdist(b.embedding_), rtol=1e-6)
    np.testing.assert_allclose(a.objective_history_, b.objective_history_, rtol=1e-7)


@pytest.mark.parametrize("beta_step", ["exact", "central_path"])
def test_weights_compensate_scales_of_single_kernels(beta_step):
    # K_m -> c_m K_m, beta_m -> beta_m / c_m, exactly and with the ridge: it is relative. Equal weights are no start for
    # this, AA' = I is.
    X = gaussian_kernels(6)
    c = np.array([0.1, 3.0, 20.0])
    model = MKLDR(init="orthonormal", beta_step=beta_step, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedSignWarning)
        plain = model.fit(X, LABELS)
        weights, embedding, history = plain.kernel_weights_, plain.embedding_, plain.objective_history_
        scaled = model.fit(c * X, LABELS)
    expected = weights / c
    np.testing.assert_allclose(scaled.kernel_weights_, expected / expected.sum(), atol=1e-7)
    np.testing.assert_allclose(pdist(scaled.embedding_), pdist(embedding), rtol=1e-5)
    np.testing.assert_allclose(scaled.objective_history_, history, rtol=1e-6)


def test_orthonormal_start_is_the_beta_step_for_an_orthogonal_A():
    kernels = gaussian_kernels(10)
    model = MKLDR(init="orthonormal", max_iter=0).fit(kernels, LABELS)
    problem = KernelProblem(KernelStack.from_last_axis(kernels), lda_graph(LABELS))
    S, S_prime = problem.weight_matrices(np.eye(36), model.ridge)
    beta = model.kernel_weights_
    value = beta @ S @ beta / (beta @ S_prime @ beta)
    assert value == pytest.approx(model.history_[0]["objective"], rel=1e-9)
    for other in np.random.default_rng(0).dirichlet(np.ones(3), size=200):
        assert other @ S @ other / (other @ S_prime @ other) >= value * (1 - 1e-10)


@pytest.mark.parametrize("beta_step", ["exact", "dnn", "sdp", "central_path"])
def test_every_beta_step_runs_and_is_certified(beta_step):
    X = gaussian_kernels(11)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedSignWarning)
        model = MKLDR(beta_step=beta_step, solver="CLARABEL").fit(X, LABELS)
    certificate = model.certificate_
    assert certificate["bound"] <= certificate["value"] * (1 + 1e-6)
    assert certificate["gap"] == pytest.approx(1 - certificate["bound"] / certificate["value"], abs=1e-9)
    assert certificate["value"] == pytest.approx(model.objective_history_[::2].min())
    # Wherever it ends, it is no worse than equal weights.
    assert model.objective_ <= model.objective_history_[0]


def test_mixed_signs_raise_a_warning():
    # One kernel at several widths: the unconstrained optimum is a difference of them.
    K = gaussian_kernels(12)[..., 1]
    X = np.stack([K**power for power in (0.25, 0.5, 1.0, 2.0, 4.0)], axis=-1)
    exact = MKLDR(max_iter=3).fit(X, LABELS)
    mixed = any(entry["mixed_sign"] for entry in exact.history_ if entry["step"] == "beta")
    assert mixed, "the problem was made to have mixed signs"
    assert all((step["value"] > step["bound"] * (1 + 1e-9)) == step["mixed_sign"] for step in exact.diagnostics_)
    with pytest.warns(MixedSignWarning, match="not an optimum"):
        literal = MKLDR(max_iter=3, beta_step="central_path").fit(X, LABELS)
    assert any(entry["status"] == "mixed_sign" for entry in literal.history_ if entry["step"] == "beta")


def test_pca_graph_finds_the_directions_of_kernel_pca():
    K = gaussian_kernels(13)[..., 2]
    centre = np.eye(36) - 1 / 36
    centred = centre @ K @ centre
    model = MKLDR(3, graph="pca").fit(centred[..., None])
    expected = np.linalg.eigh(centred)[1][:, ::-1][:, :3]
    assert subspace_angles(model.coefficients_, expected).max() < 1e-6
    assert not hasattr(model, "classes_")


def test_sda_learns_from_samples_without_labels_and_predicts_labels():
    X, y = make_moons(200, noise=0.05, random_state=3)
    few, kernels = np.where(np.arange(200) % 40 < 2, y, -1), [{"kind": "gaussian", "bandwidth": 0.1}]
    labelled = few >= 0
    model = MKLDR(graph="sda", kernels=kernels, k=7).fit(X, few)
    alone = MKLDR(kernels=kernels).fit(X[labelled], few[labelled])
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert model.embedding_.shape == (200, 1)
    assert set(model.predict(X)) == {0, 1}
    assert model.score(X, y) > alone.score(X, y) + 0.1
    with pytest.raises(ConfigError, match="other graphs connect single samples"):
        MKLDR(graph="sda", kernels=["gaussian"], landmarks=20).fit(X, few)


def test_weights_that_are_those_of_the_start_are_said():
    pixels = load_digits().data[np.sort(np.random.default_rng(0).choice(1797, 200, replace=False))]
    images = pixels.reshape(-1, 8, 8) / 16
    views = Views({"pixels": pixels, "hog": hog(images, cell=4), "lbp": lbp(images, grid=2)})
    with pytest.warns(StartWeightsWarning, match="the equal ones of the start, not learned") as caught:
        model = MKLDR(graph="lpp", kernels="gaussian").fit(views)
    assert caught[0].filename == __file__
    assert (model.status_, model.best_iter_, model.n_iter_) == ("start", 0, 5)
    np.testing.assert_allclose(model.kernel_weights_, 1 / 3)


def test_learned_weights_and_single_kernels_have_no_such_warning():
    kernels = gaussian_kernels(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", StartWeightsWarning)
        model = MKLDR(2, ridge=1e-2).fit(kernels, LABELS)
        assert model.best_iter_ > 0
        assert MKLDR(2).fit(kernels[..., :1], LABELS).status_ == "converged"
        assert MKLDR(2, kernel_weights="uniform").fit(kernels, LABELS).status_ == "uniform"
        assert MKLDR(2, max_iter=0).fit(kernels, LABELS).status_ == "max_iter"


@pytest.mark.parametrize(
    ("name", "graph", "given"), [("lde", lde_graph, [7]), ("mfa", mfa_graph, [7]), ("lpp", lpp_graph, [])]
)
def test_graphs_of_neighbours_are_those_of_all_kernels(name, graph, given):
    kernels, labels = gaussian_kernels(16), [LABELS] if given else []
    model = MKLDR(graph=name, k=3, k_prime=7, max_iter=0).fit(kernels, *labels)
    assert model.embedding_.shape == (36, 2)
    expected = graph([2 - 2 * K for K in np.moveaxis(kernels, -1, 0)], *labels, 3, *given)
    for operator, of_graph in ((model.graph_.L, expected.L), (model.graph_.L_prime, expected.L_prime)):
        np.testing.assert_allclose(operator.toarray(), of_graph.toarray(), atol=1e-12)


def test_custom_graph_equals_the_named_one():
    X = gaussian_kernels(15)
    named = lda_graph(LABELS)
    dense = GraphPair(named.L.toarray(), named.L_prime.toarray())
    model = MKLDR(2, graph=dense).fit(X)
    reference = MKLDR(2).fit(X, LABELS)
    np.testing.assert_allclose(model.kernel_weights_, reference.kernel_weights_, atol=1e-7)
    np.testing.assert_allclose(pdist(model.embedding_), pdist(reference.embedding_), rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "kernels", "error", "message"),
    [
        (MKLDR(), np.ones((36, 36, 2)), NotApplicable, "constant|no kernel"),
        (MKLDR(graph=lda_graph(np.arange(10) % 2)), gaussian_kernels(17), DataError, "10 samples"),
        (MKLDR(graph="pca", ridge=0.0), gaussian_kernels(17), ConfigError, "ridge > 0"),
        (MKLDR(solver="NONE", beta_step="sdp"), gaussian_kernels(17), ValueError, "NONE"),
        (KernelFDA(kernel_weights=[1, 2]), gaussian_kernels(17), ConfigError, "3 kernels"),
        (KernelFDA(kernel_weights="best"), gaussian_kernels(17), ConfigError, "uniform"),
    ],
)
def test_errors(model, kernels, error, message):
    with pytest.raises(error, match=message):
        model.fit(kernels, LABELS)


def test_text_can_not_mark_samples_without_a_label() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(DataError, match="y has the text '-1'"):
        MKLDR(kernels="gaussian", graph="sda").fit(X, np.array(["-1", "0", "1", "1"] * 5))


# --- convex MKL-DR


@pytest.mark.parametrize("denominator", ["total", "within"])
def test_linear_kernel_is_ridge_discriminant_analysis(denominator):
    X = features(0)[2]
    model = ConvexMKLDR(denominator=denominator, ridge=0.2).fit(X @ X.T, LABELS)
    between, within = scatters(X, LABELS)
    ridge = 0.2 * np.trace(within + between) / len(X)
    below = (within + between if denominator == "total" else within) + ridge * np.eye(4)
    omega, V = eigh(between, below)
    assert subspace_angles(X.T @ model.coefficients_, V[:, -2:]).max() < 1e-6
    within_share = 1 - omega[:-3:-1] if denominator == "total" else 1 / (1 + omega[:-3:-1])
    np.testing.assert_allclose(model.eigenvalues_, within_share, rtol=1e-9)
    assert model.objective_ == pytest.approx(np.trace(np.linalg.solve(below, between)), rel=1e-9)
    assert model.ridge_amount_ == pytest.approx(ridge)
    np.testing.assert_array_equal(model.kernel_weights_, [1.0])
    assert model.n_iter_ == 1


@pytest.mark.parametrize("denominator", ["total", "within"])
@pytest.mark.parametrize("p", [1.0, np.inf])
def test_equal_weights_are_the_method_on_the_average_kernel(denominator, p):
    K = gaussian_kernels(1)
    model = ConvexMKLDR(p=p, denominator=denominator, kernel_weights="uniform").fit(K, LABELS)
    average = ConvexMKLDR(denominator=denominator).fit(K.mean(axis=-1), LABELS)
    learned = ConvexMKLDR(p=p, denominator=denominator).fit(K, LABELS)
    np.testing.assert_allclose(model.kernel_weights_, np.full(3, 1 / 3), rtol=1e-15)
    np.testing.assert_allclose(model.embedding_, average.embedding_, rtol=0, atol=1e-9 * np.ptp(average.embedding_))
    assert model.objective_ == pytest.approx(average.objective_, rel=1e-12)
    assert (model.status_, model.n_iter_) == ("uniform", 1)
    if np.isinf(p):
        np.testing.assert_array_equal(learned.kernel_weights_, np.full(3, 1 / 3))
        assert (learned.n_iter_, learned.status_) == (1, "optimal")
    else:
        assert model.objective_ == learned.objective_history_[0] < learned.objective_ <= model.certificate_["bound"]


@pytest.mark.parametrize("denominator", ["total", "within"])
@pytest.mark.parametrize("scaling", ["total", "within"])
def test_embedding_has_the_scatters_that_the_scaling_says(denominator, scaling):
    K = gaussian_kernels(1)
    model = ConvexMKLDR(denominator=denominator, scaling=scaling).fit(K, LABELS)
    A, Z = model.coefficients_, model.embedding_
    penalty = 2 * model.ridge_amount_ * A.T @ (K @ model.kernel_weights_) @ A
    between, within = scatters(Z, LABELS)
    total, within = 2 * (between + within) + penalty, 2 * within + penalty
    unit, other, scale = (total, within, 1.0) if scaling == "total" else (within, total, -1.0)
    np.testing.assert_allclose(unit, np.eye(2), atol=1e-8)
    np.testing.assert_allclose(other, np.diag(model.eigenvalues_**scale), rtol=1e-6, atol=1e-8 * np.abs(other).max())
    assert (np.diff(model.eigenvalues_) >= 0).all()


@pytest.mark.parametrize("denominator", ["total", "within"])
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_result_is_certified(denominator, p):
    model = ConvexMKLDR(p=p, denominator=denominator, tol=1e-9).fit(gaussian_kernels(2), LABELS)
    assert model.status_ == "optimal"
    assert model.kernel_weights_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(model.kernel_weights_, model.theta_ / model.theta_.sum())
    assert np.linalg.norm(model.theta_, p) == pytest.approx(3 ** (1 / p - 1))
    assert model.certificate_["gap"] <= 1e-9
    assert model.certificate_["value"] == model.objective_ == model.objective_history_[-1]
    assert model.certificate_["bound"] >= model.objective_
    assert len(model.objective_history_) == model.n_iter_
    assert (np.diff(model.objective_history_) >= -1e-12 * model.objective_).all()
    ratios = 1 - model.eigenvalues_ if denominator == "total" else 1 / model.eigenvalues_ - 1
    assert ratios.sum() == pytest.approx(model.objective_, rel=1e-9)


def test_small_ridges_reward_the_identity_and_large_ones_do_not():
    # The documented trap: K = I separates any training classes.
    K = np.concatenate([gaussian_kernels(7), np.eye(36)[..., None]], axis=-1)
    weights = [ConvexMKLDR(p=1, ridge=ridge).fit(K, LABELS).kernel_weights_[3] for ridge in (1e-3, 10.0)]
    assert weights[0] > 0.5
    assert weights[1] < 0.05

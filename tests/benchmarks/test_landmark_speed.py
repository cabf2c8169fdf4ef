"""How fast landmark features are: five Gaussian kernels against nothing but their matrix products.

Ratios of CPU times, each the median over repeats taken in turn, so that other work on the machine hits both alike.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.benchmarks.test_distance_speed import seconds

from mklearn.base.landmark_features import LandmarkFeatures

N, L, M = 20_000, 300, 5


@pytest.mark.benchmark
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("d", [256, 784])
def test_features_reach_half_of_gemm(d: int, dtype: str, record_property) -> None:
    """The products of n l (d + r) are X Z' and K U W^(-1/2), whole matrices into arrays that are there.

    Features come in blocks, as methods on moments take them: the memory of all of them is not timed.
    """
    rng = np.random.default_rng(0)
    views = {f"view{m}": rng.random((N, d), dtype=np.float32).astype(dtype) for m in range(M)}
    model = LandmarkFeatures("gaussian", L, dtype=dtype).fit({name: table[:1000] for name, table in views.items()})
    assert model.ranks_.tolist() == [L] * M
    Z, P = rng.random((d, L)).astype(dtype), rng.random((L, L)).astype(dtype)
    K, out = np.zeros((N, L), dtype=dtype), np.zeros((N, L), dtype=dtype)

    def products() -> None:
        for table in views.values():
            np.matmul(np.matmul(table, Z, out=K), P, out=out)

    def features() -> None:
        for _ in model.transform_blocks(views):
            pass

    taken = seconds({"products": products, "features": features}, repeats=5)
    share = taken["products"] / taken["features"]
    record_property("share_of_gemm", round(share, 3))
    record_property("gflops", round(2 * M * N * L * (d + L) / taken["features"] / 1e9, 1))
    print(f"\nd={d} {dtype}: {share:.2f} of the products alone, {taken}")
    assert share >= 0.5

"""The elastic net on standardised features, a baseline without kernels that selects features."""

from __future__ import annotations

from sklearn import preprocessing
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import ElasticNet
from sklearn.pipeline import Pipeline, make_pipeline

from mklearn.base.parameters import POSITIVE, SHARE, constrained
from mklearn.kernels.standard_scaler import StandardScaler


@constrained(alpha=[POSITIVE], l1_ratio=[SHARE])
def elastic_net(alpha: float = 0.1, l1_ratio: float = 0.5) -> Pipeline:
    """Build the elastic net on features, for a target, of mean 0 and variance 1.

    Parameters
    ----------
    alpha : float
        Weight of the penalty for a target of variance 1, as in :class:`sklearn.linear_model.ElasticNet`.
    l1_ratio : float in (0, 1]
        Share of the absolute values in the penalty, beside the squares.
    """
    net = ElasticNet(alpha=alpha, l1_ratio=l1_ratio, max_iter=5000)
    return make_pipeline(StandardScaler(), TransformedTargetRegressor(net, transformer=preprocessing.StandardScaler()))

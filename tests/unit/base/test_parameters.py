"""The private names of scikit-learn that parameter checks need exist, and do what estimators rely on."""

import importlib
from typing import ClassVar, Literal

import pytest
import sklearn
from sklearn.base import BaseEstimator

from mklearn.base.fit_context import fit_context
from mklearn.base.parameters import NONNEGATIVE, at_least, one_of

PRIVATE_NAMES = {
    "sklearn.base": ("_fit_context",),
    "sklearn.utils._param_validation": ("Interval", "Options", "StrOptions", "make_constraint"),
}


@pytest.mark.parametrize(("module", "names"), PRIVATE_NAMES.items())
def test_private_names_of_scikit_learn_exist(module, names):
    loaded = importlib.import_module(module)
    missing = [name for name in names if not hasattr(loaded, name)]
    assert not missing, (
        f"scikit-learn {sklearn.__version__} no longer has {', '.join(missing)} in {module}: adapt "
        "mklearn.base, the only folder that imports it, and the cap of scikit-learn in pyproject.toml"
    )


class Estimator(BaseEstimator):
    _parameter_constraints: ClassVar = {
        "size": [None, at_least(2)],
        "ridge": [NONNEGATIVE],
        "rule": [one_of(Literal["a", "b"])],
    }

    def __init__(self, size=None, ridge=0.0, rule="a"):
        self.size = size
        self.ridge = ridge
        self.rule = rule

    @fit_context
    def fit(self, X, y=None):
        return self


@pytest.mark.parametrize("parameters", [{}, {"size": 2}, {"ridge": 1}, {"rule": "b"}])
def test_valid_parameters_pass(parameters):
    Estimator(**parameters).fit(None)


@pytest.mark.parametrize("parameters", [{"size": 1}, {"size": 2.5}, {"ridge": -1.0}, {"rule": "c"}])
def test_fit_names_the_invalid_parameter(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Estimator"):
        Estimator(**parameters).fit(None)

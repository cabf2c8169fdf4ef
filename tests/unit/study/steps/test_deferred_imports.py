"""A deferred module is executed at its first use, and is then the ordinary module."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mklearn.study.steps.deferred_imports import defer

pytestmark = pytest.mark.full

FIRST_USES = {
    "an attribute": "assert not hasattr(stats, 'nothing')",
    "a module in it": "import scipy.stats.qmc; assert stats.qmc.Sobol(1, rng=0).random(2).shape == (2, 1)",
}


@pytest.mark.parametrize("use", FIRST_USES.values(), ids=FIRST_USES.keys())
def test_it_is_executed_at_its_first_use(use):
    program = f"""
import sys
from mklearn.study.steps.deferred_imports import defer
defer("scipy.stats")
import sklearn.base
import scipy.stats
from scipy import stats
assert "sklearn.utils.fixes" in sys.modules
assert "scipy.stats._distn_infrastructure" not in sys.modules
{use}
assert stats is scipy.stats is sys.modules["scipy.stats"]
assert type(stats) is type(sys)
from scipy.stats import norm
assert norm.cdf(0) == 0.5
assert stats.rankdata([3, 1]).tolist() == [2, 1]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_fit_executes_no_module_that_few_methods_use():
    program = """
import sys
from mklearn.errors import ConfigError
from mklearn.study.steps.runner import call
try:
    call("fit", {}, {}, {})
except ConfigError as error:
    assert "missing" in str(error)
assert "sklearn.base" in sys.modules
assert "scipy.stats._distn_infrastructure" not in sys.modules
assert "numpy.f2py.crackfortran" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_modules_that_are_loaded_or_missing_are_left_alone():
    before = sys.modules["subprocess"]
    defer("subprocess")
    assert sys.modules["subprocess"] is before
    defer("scipy.nothing_of_that_name")
    assert "scipy.nothing_of_that_name" not in sys.modules

"""The script of the page: the same whoever makes it, and a process that fails or is not needed is no problem."""

from __future__ import annotations

import shutil

import pytest

from mklearn.errors import DataError
from mklearn.report import vega_bundle
from mklearn.report.vega_bundle import VegaBundle


def test_a_process_of_its_own_makes_the_same_script():
    with VegaBundle(beside=True) as beside, VegaBundle(beside=False) as here:
        script = here.script()
        assert beside.script() == script
    assert "window.vegaEmbed" in script
    assert "</script" not in script


def test_a_process_that_fails_is_told(monkeypatch, capfd):
    monkeypatch.setattr(vega_bundle.sys, "executable", shutil.which("false"))
    with VegaBundle(beside=True) as bundle, pytest.raises(DataError, match="that bundles Vega ended with code 1"):
        bundle.script()


def test_a_report_that_fails_before_ends_the_process():
    def fail():
        with VegaBundle(beside=True) as bundle:
            fail.bundle = bundle
            raise TypeError("no report")

    with pytest.raises(TypeError, match="no report"):
        fail()
    assert fail.bundle._process.returncode == -9

"""Spectra of kernels: what is kept of them, and what is drawn."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from mklearn.kernels.psd import spectrum_curve
from mklearn.study.report.charts import standalone
from mklearn.study.report.figures_of_fits import kernel_spectra
from mklearn.study.report.frames import spectra
from mklearn.study.report.records import FitRecord
from mklearn.study.report.theme import SCHEMES, vega_config


def record(info, method="average"):
    return FitRecord("digits", "random", 5, method, method, kernel_info=None if info is None else pd.DataFrame(info))


def drawn(curves):
    """The figure as SVG, and its specification."""
    import vl_convert

    spec = standalone(kernel_spectra(curves), "Kernels")
    config = vega_config(SCHEMES[0], list(SCHEMES[0].colours), file=True)
    return vl_convert.vegalite_to_svg(json.dumps(spec), vl_version="6.4", config=config), spec


def curve(*values):
    return [list(point) for point in spectrum_curve(values)]


def test_each_kernel_once_by_rank_with_its_sign():
    first = record({"kernel": ["a", "b"], "spectrum": [curve(3, 1, 0), curve(2, 1, -1)]})
    again = record({"kernel": ["a", "c"], "spectrum": [curve(1, 1, 1), curve(1)]}, "other")
    found = spectra([record(None), first, again])
    assert list(dict.fromkeys(found["kernel"])) == ["a", "b", "c"]
    assert found.query("kernel == 'a'")["share"].tolist() == [0.75, 0.25], "the first fit's, without what is zero"
    b = found.query("kernel == 'b'")
    assert b["share"].tolist() == [0.5, 0.25, 0.25]
    assert b["negative"].tolist() == [False, False, True]
    assert b["rank"].tolist() == [1, 2, 3]


def test_rounding_is_no_eigenvalue():
    found = spectra([record({"kernel": ["a"], "spectrum": [curve(1, 1e-12, -1e-17)]})])
    assert found["rank"].tolist() == [1]


@pytest.mark.parametrize("info", [None, {"kernel": ["a"]}, {"kernel": ["a"], "spectrum": [[]]}])
def test_older_model_files_have_none(info):
    assert spectra([record(info)]).empty


@pytest.mark.parametrize("n", [3, 11])
def test_every_kernel_is_drawn_and_named(n):
    names = [f"gauss-{2.0**e:g}" for e in range(n)]
    values = [curve(*np.exp(-np.linspace(0, e + 1, 60))) for e in range(n)]
    svg, spec = drawn(spectra([record({"kernel": names, "spectrum": values})]))
    assert len(re.findall(r'aria-roledescription="line mark"', svg)) == n
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {name.removeprefix("gauss-") for name in names} <= set(texts), "the legend leaves out what names share"
    assert "kernel: gauss-…" in texts
    lines = re.findall(r'aria-roledescription="line mark"[^>]*stroke="([^"]*)"', svg)
    assert len(set(lines)) == n, "no two kernels look the same"
    assert "negative" not in json.dumps(spec["title"])


def test_negative_eigenvalues_are_rings_on_a_dotted_line():
    svg, spec = drawn(spectra([record({"kernel": ["a", "b"], "spectrum": [curve(4, 2, -1, -2), curve(4, 2, 1, 1)]})]))
    assert spec["title"]["subtitle"].endswith("rings: negative")
    dashed = [line for line in re.findall(r"<path[^>]*line mark[^>]*>", svg) if 'stroke-dasharray="2,3"' in line]
    assert len(dashed) == 1
    assert len(re.findall(r'aria-roledescription="point"', svg)) == 2 + 8, "two rings, and what the pointer finds"

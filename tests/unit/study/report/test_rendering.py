"""Figure files: the same bytes whatever was rendered before them."""

from __future__ import annotations

import re

import pytest

from mklearn.study.report.rendering import write_figure

pytestmark = pytest.mark.full

# Clipped marks and gradients are what the renderer numbers.
MARK = {"type": "area", "clip": True, "color": {"gradient": "linear", "stops": [{"offset": 0, "color": "red"}]}}
FIGURE = {
    "data": {"values": [{"x": 1, "y": 2}, {"x": 2, "y": 3}]},
    "mark": MARK,
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}


def test_earlier_figures_change_no_byte(tmp_path):
    first, second = (
        {path.suffix: path.read_bytes() for path in write_figure(tmp_path / f"training size 0.5 {n}", FIGURE, {})}
        for n in range(2)
    )
    assert first == second
    assert set(first) == {".svg", ".png"}
    ids, used = (set(re.findall(pattern, first[".svg"])) for pattern in (rb'id="([^"]*)"', rb"url\(#([^)]*)\)"))
    assert used
    assert used <= ids
    assert len(list(tmp_path.iterdir())) == 4

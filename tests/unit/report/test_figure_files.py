"""Figures as files: the same from one process or several, and a writer that fails is no success."""

from __future__ import annotations

import re

import pytest

from mklearn.errors import DataError
from mklearn.report.figure_files import FigureWriters

VALUES = [{"x": 1, "y": 2}, {"x": 2, "y": 3}]
# Clipped marks and gradients are what the renderer numbers.
MARK = {"type": "area", "clip": True, "color": {"gradient": "linear", "stops": [{"offset": 0, "color": "red"}]}}
FIGURE = {
    "data": {"values": VALUES},
    "mark": MARK,
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}


def written(folder, n, figures=5):
    with FigureWriters(folder, {}, n) as writers:
        for number in range(figures):
            writers.add(f"figure-{number}", FIGURE | {"title": f"{number}"})
    return {path.name: path.read_bytes() for path in writers.written}


def test_one_process_or_several_write_the_same_bytes(tmp_path):
    one, three = written(tmp_path / "one", 1), written(tmp_path / "three", 3)
    assert one == three
    assert len(one) == 10
    ids = set(re.findall(rb'id="([^"]*)"', one["figure-4.svg"]))
    assert ids
    assert ids == set(re.findall(rb'id="([^"]*)"', one["figure-0.svg"]))
    used = set(re.findall(rb"url\(#([^)]*)\)", one["figure-4.svg"]))
    assert used
    assert used <= ids
    assert {path.name for path in (tmp_path / "one").iterdir()} == set(one)


def test_no_figures_no_process_no_folder(tmp_path):
    assert written(tmp_path / "none", 2, figures=0) == {}
    assert not (tmp_path / "none").exists()


def test_a_writer_that_fails_is_told(tmp_path, capfd):
    folder = tmp_path / "figures"
    with pytest.raises(DataError, match=f"{folder}: a process that writes figures ended with code 1"):
        draw(FigureWriters(folder, {}, 2), {"good": FIGURE, "bad": {"mark": 3}})
    assert "Traceback" in capfd.readouterr().err
    assert {path.name for path in folder.iterdir()} == {"good.svg", "good.png"}


def test_an_error_while_drawing_ends_the_writers(tmp_path):
    writers = FigureWriters(tmp_path / "figures", {}, 1)
    with pytest.raises(TypeError, match="not JSON serializable"):
        draw(writers, {"good": FIGURE, "bad": {"mark": object()}})
    assert [process.returncode for process in writers._processes] == [-9]


def draw(writers, figures):
    with writers:
        for slug, specification in figures.items():
            writers.add(slug, specification)

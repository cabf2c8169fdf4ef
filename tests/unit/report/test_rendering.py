"""Worker processes: the same bytes from one or several, and a worker that fails is reported."""

from __future__ import annotations

import re
import time

import pytest

from mklearn.errors import DataError
from mklearn.report.rendering import Renderer, vega_script

VALUES = [{"x": 1, "y": 2}, {"x": 2, "y": 3}]
# Clipped marks and gradients are what the renderer numbers.
MARK = {"type": "area", "clip": True, "color": {"gradient": "linear", "stops": [{"offset": 0, "color": "red"}]}}
FIGURE = {
    "data": {"values": VALUES},
    "mark": MARK,
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}


def written(folder, threads, figures=5):
    with Renderer(folder, {}, threads) as renderer:
        script = renderer.bundle()
        for number in range(figures):
            renderer.add(f"figure-{number}", FIGURE | {"title": f"{number}"})
        assert script() == vega_script()
    assert all(process.returncode == 0 for process in renderer._processes)
    return {path.name: path.read_bytes() for path in renderer.written}


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


def test_no_figures_no_folder(tmp_path):
    assert written(tmp_path / "none", 1, figures=0) == {}
    assert not (tmp_path / "none").exists()


def test_the_script_of_the_page_is_safe_inside_a_script_element():
    assert "window.vegaEmbed" in vega_script()
    assert "</script" not in vega_script()


def test_a_worker_that_fails_is_reported(tmp_path, capfd):
    folder = tmp_path / "figures"

    def report():
        with Renderer(folder, {}, 1) as renderer:
            renderer.add("good", FIGURE)
            renderer.add("bad", {"mark": 3})

    with pytest.raises(DataError, match=f"{folder}: a process that renders figures ended with code 1"):
        report()
    assert "Traceback" in capfd.readouterr().err
    assert {path.name for path in folder.iterdir()} == {"good.svg", "good.png"}


def test_a_failing_bundle_is_reported(tmp_path, monkeypatch):
    with Renderer(tmp_path, {}, 2) as renderer:
        monkeypatch.setattr(renderer, "_command", ["false"])
        script = renderer.bundle()
        with pytest.raises(DataError, match="ended with code 1"):
            script()


def test_an_error_in_the_report_kills_the_workers(tmp_path):
    renderer = Renderer(tmp_path / "figures", {}, 2)

    def report():
        with renderer:
            for number in range(9):
                renderer.add(f"{number}", FIGURE)
            while len(renderer._processes) < 2:
                time.sleep(0.01)
            raise TypeError("no report")

    with pytest.raises(TypeError, match="no report"):
        report()
    assert {process.returncode for process in renderer._processes} == {-9}

"""The script of the page: bundled once for a version of vl-convert, and never taken from a damaged file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mklearn.study.report import vega_script as module
from mklearn.study.report.vega_script import vega_script


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Every bundle that is made: short ones, each with its number, kept in the folder ``tmp_path / "cache"``."""
    made: list[str] = []

    def bundle(snippet: str, vl_version: str) -> str:
        made.append(f"{snippet} '</script' {vl_version} 'Größe' {len(made)}")
        return made[-1]

    monkeypatch.setattr(module.vl_convert, "javascript_bundle", bundle)
    keep_in(tmp_path / "cache", monkeypatch)
    return made


def keep_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cache_from_source", lambda _: str(folder / "vega_script.pyc"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def another_process() -> str:
    vega_script.cache_clear()
    return vega_script()


@pytest.fixture(autouse=True)
def _forget():
    yield
    vega_script.cache_clear()


@pytest.mark.full
def test_the_real_one_is_safe_inside_a_script_element(monkeypatch, tmp_path):
    keep_in(tmp_path, monkeypatch)
    script = another_process()
    assert "window.vegaEmbed" in script
    assert "</script" not in script
    monkeypatch.setattr(module.vl_convert, "javascript_bundle", None)
    assert another_process() == script


def test_it_is_bundled_once_for_a_version(bundled, monkeypatch):
    first = another_process()
    assert another_process() == first
    assert len(bundled) == 1
    assert "<\\/script" in first
    monkeypatch.setattr(module, "version", lambda _: "99.0")
    assert another_process() != first
    monkeypatch.setattr(module, "_SNIPPET", "another")
    assert another_process().startswith("another")
    assert len(bundled) == 3


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-1], lambda d: d[:-1] + b"8", lambda d: d + b"\n", lambda d: b"\xff" + d]
)
def test_a_damaged_file_is_made_again(bundled, tmp_path, damage):
    first = another_process()
    (path,) = (tmp_path / "cache").iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert another_process() == first.replace(" 0", " 1")
    assert another_process().endswith(" 1")
    assert len(bundled) == 2


def test_a_folder_that_can_not_be_written_is_no_error(bundled, tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert another_process().endswith(" 0")
    assert another_process().endswith(" 1")

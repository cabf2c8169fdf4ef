"""A report of any names: every figure is drawn, tables have the names as they are, one lost figure costs one figure."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.study.report.conftest import HOSTILE, make_hostile_study

from mklearn.study.report import figures_of_fits, rendering
from mklearn.study.report.build import build_report
from mklearn.study.report.figure_names import LONGEST, FigureNames


@pytest.mark.full
def test_every_figure_of_hostile_names_is_drawn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering.vl_convert, "svg_to_png", lambda svg, scale: b"")  # half of the time
    study = make_hostile_study()
    written = build_report(tmp_path, **study)
    assert caplog.records == []
    page = written[0].read_text(encoding="utf-8")
    assert 'class="problem"' not in page
    shown = set(re.findall(r'class="chart" data-figure="([^"]+)"', page))
    assert shown == {path.stem for path in written if path.suffix == ".png"}
    assert len(shown) >= 10
    for path in written:
        if path.suffix == ".svg":
            ElementTree.fromstring(path.read_bytes())  # which characters outside XML would break
    for entry in study["study"].methods[:2]:
        title = html.escape(entry.title).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
        assert f'scope="row" data-sort="{title}">{title}</th>' in page


def test_names_with_half_a_surrogate_pair_lose_no_page_and_a_broken_figure_only_itself(
    study: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("no such class")

    monkeypatch.setattr(figures_of_fits, "embedding", broken)
    data = [replace(study["data"][0], title="half \ud800", note="\udfff")]
    page = build_report(tmp_path, **study | {"data": data}, figure_files=False)[0].read_text(encoding="utf-8")
    assert "half \\ud800" in page
    assert page.count("This figure could not be drawn: KeyError: &#39;no such class&#39;") == 2
    assert "can't be drawn: KeyError" in caplog.text
    assert len(re.findall(r'class="chart" data-figure="', page)) > 5


def test_different_names_have_different_forms() -> None:
    names = FigureNames()
    forms = [names(name) for name in HOSTILE]
    assert len(set(forms)) == len(HOSTILE)
    assert all(len(form) <= LONGEST + 4 for form in forms)
    assert names("a\x01b") == "a<U+0001>b"
    assert names("class 1") == "class 1"
    assert names("Ελένη 猫") == "Ελένη 猫"
    assert names.inside({"s": ["constructor", 1, None]}) == {"s": ["constructor ", 1, None]}

"""The samples that methods get wrong: counted by hand, shown with the right images, escaped."""

from __future__ import annotations

import base64
import html
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tests.unit.study.report.conftest import make_study

from mklearn.study.data.samples import SampleSet
from mklearn.study.evaluation.predictions import typed
from mklearn.study.report import mistakes
from mklearn.study.report.build import build_report
from mklearn.study.report.mistakes import wrong_samples


def sample_set(n: int = 8, side: int = 6, classes: tuple[str, ...] = ("a", "b", "c")) -> SampleSet:
    """Images of one grey value each: sample k has the value 10 k."""
    images = np.stack([np.full((side, side), 10.0 * k) for k in range(n)])
    ids = np.array([f"s{k}" for k in range(n)])
    return SampleSet(ids=ids, y=np.arange(n) % len(classes), classes=np.array(classes), images=images)


def predictions(*rows: tuple[int, int, int, int | None, str], method: str = "m") -> pd.DataFrame:
    """Rows of (repeat, sample, true, predicted, nearest)."""
    frame = pd.DataFrame(rows, columns=["repeat", "sample", "true", "predicted", "nearest"])
    more = {"dataset": "d", "protocol": "p", "train_size": 5, "method": method, "fold": 0, "neighbour": "cosine"}
    return typed(
        frame.assign(
            **more, sample=[f"s{k}" for k in frame["sample"]], predicted=frame["predicted"].fillna(-1),
            predicted_oracle=-1, decision_value=np.nan, distance=0.5,
        )
    )  # fmt: skip


TABLE = predictions(
    (0, 0, 0, 0, "s3"), (0, 1, 1, 2, "s2"), (0, 2, 2, 0, "s3"), (0, 4, 1, 1, "s7"),
    (1, 0, 0, 1, "s4"), (1, 1, 1, 0, "s3"), (1, 4, 1, 0, "s6"),
    (2, 0, 0, 0, "s6"), (2, 1, 1, 2, "s5"),
)  # fmt: skip


def test_of_samples_that_are_always_wrong_the_one_that_is_tested_more_often_comes_first() -> None:
    table = predictions((0, 0, 0, 1, "s3"), (0, 1, 1, 0, "s3"), (1, 1, 1, 0, "s3"))
    found = wrong_samples({"m": table}, "average", sample_set())
    assert [one.sample for one in found.methods[0].samples] == ["s1", "s0"]


def test_samples_are_ordered_by_the_share_of_splits_that_get_them_wrong() -> None:
    found = wrong_samples({"m": TABLE}, "average", sample_set())
    (method,) = found.methods
    assert (method.method, method.n_wrong, method.n_tested) == ("m", 6, 9)
    shown = [(one.sample, one.true, one.predicted, one.n_wrong, one.n_tested, one.nearest) for one in method.samples]
    assert shown == [
        ("s1", "b", "c", 3, 3, "s2"),  # twice c and once a: the first split that says c
        ("s2", "c", "a", 1, 1, "s3"),
        ("s4", "b", "a", 1, 2, "s6"),
        ("s0", "a", "b", 1, 3, "s4"),
    ]


def test_images_of_the_sprite_are_those_of_the_samples() -> None:
    found = wrong_samples({"m": TABLE}, "average", sample_set())
    height, width = found.size
    columns = found.sprite.shape[1] // width
    values = {}
    for name, number in found.numbers.items():
        top, left = number // columns * height, number % columns * width
        part = found.sprite[top : top + height, left : left + width]
        assert np.ptp(part) == 0
        values[name] = int(part[0, 0])
    assert set(values) == {"s0", "s1", "s2", "s3", "s4", "s6"}
    assert sorted(values, key=values.__getitem__) == sorted(values), "brighter with the number"


def test_the_best_method_comes_first_and_then_the_reference() -> None:
    def right(share: int, method: str) -> pd.DataFrame:
        return predictions(*((0, k, k % 3, k % 3 if k < share else (k + 1) % 3, "") for k in range(8)), method=method)

    tables = {"x": right(6, "x"), "average": right(3, "average"), "best": right(7, "best"), "y": right(5, "y")}
    tables["oracle"] = predictions((0, 1, 1, None, ""), method="oracle")
    found = wrong_samples(tables, "average", sample_set())
    assert [method.method for method in found.methods] == ["best", "average", "x", "y"]
    assert wrong_samples({"oracle": tables["oracle"]}, "average", sample_set()) is None
    assert wrong_samples({}, "average", sample_set()) is None


def test_large_images_show_fewer_methods() -> None:
    """TABLE needs the images of six samples, the other one of two more; an image that is there costs nothing again."""
    other = predictions((0, 5, 2, 1, "s7"))
    tables = {"worst": other, "b": TABLE, "c": TABLE, "d": TABLE}
    for side, expected in ((8, 4), (7, 3), (1, 2)):
        found = wrong_samples(tables, "b", sample_set(side=80), pixels=side * mistakes.SIDE**2)
        assert found.size == (mistakes.SIDE, mistakes.SIDE)
        assert len(found.methods) == expected


@pytest.mark.full
def test_the_page_has_thumbnails_or_a_table(tmp_path: Path) -> None:
    study: dict[str, Any] = make_study(repeats=1)
    names = ("<b>", "{{ 1 }}", "c'\"")
    data = sample_set(classes=names)
    with_images = wrong_samples({"mkldr": TABLE, "kfd": TABLE}, "kfd", data)
    tables = SampleSet(ids=data.ids, y=data.y, classes=data.classes, tables={"f": np.zeros((8, 2))})
    without = wrong_samples({"mkldr": TABLE}, "kfd", tables)
    assert with_images is not None
    assert without.sprite is None
    paths = build_report(tmp_path, **study, wrong_samples=[with_images, without], figure_files=False)
    page = paths[0].read_text(encoding="utf-8")
    shown = page[page.index('id="wrong-samples"') :].split("</details>")[0]
    assert shown.count("<use ") == 16
    assert 'data-choice="MKL-DR (exact)"' in shown
    assert f"<b>{html.escape(names[1])}</b> taken for" in shown
    assert "6 of 9 predictions are wrong" in shown
    assert '<td class="number" data-sort="1.0">3 of 3 splits</td>' in shown
    assert "<td><b></td>" not in shown
    found = re.search(r'href="data:image/png;base64,([^"]+)"', shown)
    with Image.open(io.BytesIO(base64.b64decode(found[1]))) as image:
        assert image.size == (mistakes.COLUMNS * 6, 6)

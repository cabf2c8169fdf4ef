"""The ceilings of rooms, and that the repository keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.budget import excesses, lowered, sizes


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A room of two statements and two lines, with one of one statement and three lines in it."""
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "a.py").write_text("x = 1\ny = 2\n", encoding="utf-8")
    (tmp_path / "src" / "deep" / "b.py").write_text("# why\n\nz = 3\n", encoding="utf-8")
    return tmp_path


def test_a_file_counts_in_the_deepest_room_above_it(tree: Path) -> None:
    assert sizes(["src", "src/deep"], tree) == {"src": (2, 2), "src/deep": (3, 1)}
    with pytest.raises(SystemExit, match=r"src/a\.py: no room"):
        sizes(["src/deep"], tree)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ((2, 2), []),
        ((1, 1), []),
        ((3, 2), ["3 lines, 1 above"]),
        ((4, 4), ["4 lines, 2 above", "4 statements, 2 above"]),
    ],
)
def test_a_room_above_its_ceiling_is_named_with_what_to_do(now: tuple[int, int], expected: list[str]) -> None:
    found = excesses({"src": now}, {"src": (2, 2)})
    assert len(found) == len(expected)
    for sentence, words in zip(found, expected, strict=True):
        assert sentence.startswith(f"src: {words}")
        assert "raise src under [tool.budget]" in sentence


def test_ceilings_are_lowered_and_never_raised() -> None:
    text = '"src" = [5, 9] # why\n"src/deep" = [1, 1]\n'
    found = lowered(text, {"src": (4, 10), "src/deep": (2, 2)}, {"src": (5, 9), "src/deep": (1, 1)})
    assert found == '"src" = [4, 9] # why\n"src/deep" = [1, 1]\n'

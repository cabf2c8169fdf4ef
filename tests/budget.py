"""Hold the lines and statements of each room against its ceiling in pyproject.toml.

Usage: ``python tests/budget.py [--show] [--lower]``. A room is a folder with a ceiling under ``[tool.budget]``; it has
the Python files below it that no deeper room has. Statements are the ``ast.stmt`` nodes.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PROJECT = REPOSITORY / "pyproject.toml"

Size = tuple[int, int]
"""Lines and statements."""


def sizes(rooms: list[str], repository: Path = REPOSITORY) -> dict[str, Size]:
    """Count the lines and statements of the Python files of each room; a file is in the deepest room above it."""
    found = dict.fromkeys(rooms, (0, 0))
    for top in {room.split("/")[0] for room in rooms}:
        for path in sorted((repository / top).rglob("*.py")):
            above = [parent.relative_to(repository).as_posix() for parent in path.parents[: -len(repository.parts)]]
            room = next((parent for parent in above if parent in found), None)
            if room is None:
                raise SystemExit(f"{path.relative_to(repository)}: no room of [tool.budget] has it; add one")
            text = path.read_text(encoding="utf-8")
            statements = sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text)))
            found[room] = (found[room][0] + len(text.splitlines()), found[room][1] + statements)
    return found


def excesses(now: dict[str, Size], ceilings: dict[str, Size]) -> list[str]:
    """Return a sentence for each room above its ceiling."""
    return [
        f"{room}: {now[room][place]} {unit}, {now[room][place] - ceiling[place]} above its ceiling. Take some out of "
        f"the room, or raise {room} under [tool.budget] in pyproject.toml and say in the commit what that buys."
        for room, ceiling in ceilings.items()
        for place, unit in enumerate(("lines", "statements"))
        if now[room][place] > ceiling[place]
    ]


def table(now: dict[str, Size], ceilings: dict[str, Size]) -> str:
    """Lay out what each room has and may have."""
    sums = {f"all of {top}": [room for room in now if room.split("/")[0] == top] for top in ("src", "tests")}
    rows = [f"{'room':44} {'lines':>7} {'ceiling':>8} {'statements':>11} {'ceiling':>8}"]
    for name, rooms in [*((room, [room]) for room in now), *sums.items()]:
        lines, statements = (sum(now[room][place] for room in rooms) for place in (0, 1))
        most_lines, most_statements = (sum(ceilings[room][place] for room in rooms) for place in (0, 1))
        rows.append(f"{name:44} {lines:7} {most_lines:8} {statements:11} {most_statements:8}")
    return "\n".join(rows)


def lowered(text: str, now: dict[str, Size], ceilings: dict[str, Size]) -> str:
    """Return pyproject.toml with the ceilings of rooms that have become smaller at what these have now."""
    for room, ceiling in ceilings.items():
        least = [min(pair) for pair in zip(now[room], ceiling, strict=True)]
        text = re.sub(rf'^"{re.escape(room)}" = \[.*\]', f'"{room}" = {least}', text, flags=re.MULTILINE)
    return text


def main() -> int:
    """Check the budget, show it, or lower it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--show", action="store_true", help="print what each room has and may have")
    parser.add_argument("--lower", action="store_true", help="lower the ceilings to what the rooms have")
    options = parser.parse_args()
    text = PROJECT.read_text(encoding="utf-8")
    ceilings = {room: (size[0], size[1]) for room, size in tomllib.loads(text)["tool"]["budget"].items()}
    now = sizes(list(ceilings))
    if options.show:
        print(table(now, ceilings))
    if options.lower:
        PROJECT.write_text(lowered(text, now, ceilings), encoding="utf-8")
    above = excesses(now, ceilings)
    print("\n".join(above), file=sys.stderr, end="\n" if above else "")
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main())

"""Compare the lines and statements of each room with its ceiling in pyproject.toml.

Usage: ``python tests/budget.py [--show] [--lower]``. A room is a folder with a ceiling under ``[tool.budget]``; it has
the Python files below it that are in no deeper room. Statements are the ``ast.stmt`` nodes. A file of the source has
at most 450 lines, a function at most 64.
"""

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
LONGEST_FILE, LONGEST_FUNCTION = 450, 64


def sizes(rooms: list[str], repository: Path = REPOSITORY) -> dict[str, Size]:
    """Count the lines and statements of the Python files of each room; a file is in the deepest room above it."""
    counts = dict.fromkeys(rooms, (0, 0))
    for top in {room.split("/")[0] for room in rooms}:
        for path in sorted((repository / top).rglob("*.py")):
            above = [parent.relative_to(repository).as_posix() for parent in path.parents[: -len(repository.parts)]]
            room = next((parent for parent in above if parent in counts), None)
            if room is None:
                raise SystemExit(f"{path.relative_to(repository)}: no room of [tool.budget] has it; add one")
            text = path.read_text(encoding="utf-8")
            statements = sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text)))
            counts[room] = (counts[room][0] + len(text.splitlines()), counts[room][1] + statements)
    return counts


def too_long(path: Path) -> list[str]:
    """Name a file, and each function in it, that is too long."""
    text = path.read_text(encoding="utf-8")
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    found = [("", len(text.splitlines()), LONGEST_FILE)]
    found += [(node.name, (node.end_lineno or 0) - node.lineno + 1, LONGEST_FUNCTION) for node in functions]
    return [
        f"{path.relative_to(REPOSITORY)} {name}: {size} lines; expected at most {most}. Split it by subject."
        for name, size, most in found
        if size > most
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--show", action="store_true", help="print the size and ceiling of each room")
    parser.add_argument("--lower", action="store_true", help="lower the ceilings to the sizes of the rooms")
    options = parser.parse_args()
    text = PROJECT.read_text(encoding="utf-8")
    ceilings: dict[str, Size] = tomllib.loads(text)["tool"]["budget"]
    now = sizes(list(ceilings))
    if options.show:
        print(f"{'room':44} {'lines':>7} {'ceiling':>8} {'statements':>11} {'ceiling':>8}")
        sums = {f"all of {top}": [room for room in now if room.split("/")[0] == top] for top in ("src", "tests")}
        for name, rooms in ({room: [room] for room in now} | sums).items():
            numbers = [sum(table[room][place] for room in rooms) for place in (0, 1) for table in (now, ceilings)]
            print("{:44} {:7} {:8} {:11} {:8}".format(name, *numbers))
    long = [line for path in sorted((REPOSITORY / "src").rglob("*.py")) for line in too_long(path)]
    print(*long, sep="\n", end="\n" * bool(long), file=sys.stderr)
    above = len(long)
    for room, ceiling in ceilings.items():
        if options.lower:
            least = list(map(min, now[room], ceiling))
            text = re.sub(rf'^"{re.escape(room)}" = \[.*\]', f'"{room}" = {least}', text, flags=re.MULTILINE)
        for size, most, unit in zip(now[room], ceiling, ("lines", "statements"), strict=True):
            if size > most:
                above += 1
                excess = f"{room}: {size} {unit}, {size - most} above its ceiling."
                print(
                    f"{excess} Reduce the room, or raise its ceiling and say in the commit what that buys.",
                    file=sys.stderr,
                )
    if options.lower:
        PROJECT.write_text(text, encoding="utf-8")
    return int(above > 0)


if __name__ == "__main__":
    sys.exit(main())

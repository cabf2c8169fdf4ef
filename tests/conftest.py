"""Fixtures that every test may use."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parents[1]

# Before NumPy is imported: tests run beside each other, one on each core, and more threads only wait for each other.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

LONGEST_FIRST = ("workflow", "golden", "conformance", "unit/study", "unit", "fuzz", "benchmarks")
FULL = ("golden", "fuzz")
"""Folders of which `make test` runs nothing."""


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out files that import papers where there are none (`make test-core`)."""
    if (REPOSITORY / "src" / "mklearn" / "papers").is_dir() or collection_path.suffix != ".py":
        return None
    return "from mklearn.papers" in collection_path.read_text(encoding="utf-8") or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave what needs the mirror or a browser to `make test-all`, and put the rooms with the longest files first."""
    for item in items:
        room = item.path.relative_to(REPOSITORY / "tests").parts[0]
        if room in FULL or "mirror" in getattr(item, "fixturenames", ()) or item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.full)
    place = {str(REPOSITORY / "tests" / room): number for number, room in enumerate(LONGEST_FIRST)}
    if gone := [room for room in LONGEST_FIRST if not (REPOSITORY / "tests" / room).is_dir()]:
        raise pytest.UsageError(f"LONGEST_FIRST names folders of tests that are not there: {', '.join(gone)}")
    items.sort(key=lambda item: min(place.get(str(folder), len(place)) for folder in item.path.parents))


def pytest_collection_finish() -> None:
    """Let no collection of garbage look through what is there before the first test: a twentieth of all time."""
    gc.freeze()


# A busy machine is no mistake of the code; and what fixtures make, no example changes.
settings.register_profile(
    "mklearn", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.load_profile("mklearn")


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder that mirrors the real data sets; skips where there is none (in CI there is, and the tests run)."""
    folder = Path(os.environ.get("MKLEARN_MIRROR") or REPOSITORY.parent / "shared" / "data")
    if not (folder / "MANIFEST.csv").exists():
        pytest.skip(f"no data mirror at {folder}: set MKLEARN_MIRROR to a folder that has one")
    return folder

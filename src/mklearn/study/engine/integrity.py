"""``mklearn verify``: compare the files of runs with the checksums that they were written with.

A step verifies what it reads. A page, a final table, or a file that no run has read for long is verified here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath

from mklearn.errors import DamagedArtefact, DataError
from mklearn.saved_models import verify_model
from mklearn.study.artefacts import CACHE, STAGES, cached_name, check_download, read_arrays, read_record, read_table
from mklearn.study.config.reading import read_study
from mklearn.study.engine.workflow_files import study_file
from mklearn.study.provenance import file_digest
from mklearn.study.stages.order import ARTEFACTS
from mklearn.study.stamps import BESIDE, load_beside
from mklearn.study.steps.runner import set_aside
from mklearn.study.steps.scores import OWN_COLUMNS, read_study_table

_READERS: dict[str, Callable[[Path], object]] = {".npz": read_arrays, ".parquet": read_table, ".json": read_record}
_DOWNLOADS = PurePath(ARTEFACTS["download"]).parts[0]


def verify(studies: Sequence[str | None]) -> tuple[str, int]:
    """Verify the results folders of studies, and set damaged files aside, so that the next run makes them again.

    Parameters
    ----------
    studies : sequence of str or None
        As in :func:`mklearn.study.engine.workflow_files.study_file`. All studies that share a results folder are
        verified with it.

    Returns
    -------
    text : str
        A line for each damaged file, and how many were verified.
    damaged : int
        Number of damaged files.

    Raises
    ------
    ConfigError
        No such study, or one with mistakes.
    """
    lines, verified = [], 0
    for folder in dict.fromkeys(read_study(study_file(study)).results for study in studies):
        for path in artefacts(Path(folder)):
            verified += 1
            try:
                verify_file(path)
            except DamagedArtefact as error:
                lines.append(f"{error}. {set_aside(path)}")
            except DataError as error:
                lines.append(str(error))
    damaged = len(lines)
    lines.append(f"{verified:,} files verified: {damaged or 'none'} {'are' if damaged > 1 else 'is'} damaged.")
    return "\n".join(lines), damaged


def artefacts(results: Path) -> Iterator[Path]:
    """Yield the files below a folder of results that have a checksum: in the order in which jobs make them.

    Those beside a page are verified with it.
    """
    for record in sorted(results.glob(f"{_DOWNLOADS}/*/*.{BESIDE}")):
        path = record.with_name(record.name.removesuffix(f".{BESIDE}"))
        if path.is_file():
            yield path
    for stage in STAGES:
        for path in sorted((results / CACHE / stage).rglob("*")):
            if path.suffix in _READERS and not path.name.startswith(".") and path.is_file():
                yield path
    for name in ("scores", "predictions", "summary", "run_record", "report", "final_model"):
        yield from sorted(results.glob(ARTEFACTS[name].replace("{study}", "*")))


def verify_file(path: Path) -> None:
    """Verify one of the files of :func:`artefacts`.

    Raises
    ------
    DamagedArtefact
        It is damaged, or of another job or study; or, of a page, one of the files beside it is damaged.
    DataError
        It can't be read.
    """
    if path.name == PurePath(ARTEFACTS["report"]).name:
        _verify_page(path)
    elif path.name == PurePath(ARTEFACTS["final_model"]).name:
        _verify_model(path)
    elif path.with_name(f"{path.name}.{BESIDE}").is_file():
        check_download(path, file_digest(path))
    elif not cached_name(path) and path.stem in OWN_COLUMNS:
        read_study_table(path, path.stem, path.parent.name)
    elif not cached_name(path):
        _check_study(path)
    else:
        _READERS[path.suffix](path)


def _check_study(record: Path) -> None:
    """Check that a run record is of the study whose folder it is in."""
    found = read_record(record).get("study")
    if found != record.parent.name:
        raise DamagedArtefact(str(record), f"{record}: not of study {record.parent.name!r}, but of {found!r}")


def _verify_model(path: Path) -> None:
    try:
        verify_model(path)
    except DataError as error:
        raise DamagedArtefact(str(path), str(error)) from error


def _verify_page(page: Path) -> None:
    try:
        recorded = load_beside(page.with_name(BESIDE)).get("files", {})
    except DataError as error:
        raise DamagedArtefact(str(page), f"{page}: the record of its checksum is damaged: {error}") from error
    for name in {page.name: None, **recorded}:
        file = page.parent / name
        if not file.is_file() or file_digest(file) != recorded.get(name):
            what = "it" if file == page else name
            raise DamagedArtefact(str(page), f"{page}: {what} is not what was written: the sha256 is another")

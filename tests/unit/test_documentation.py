"""README and docs: their code runs and prints what they say, their studies are valid, their links lead somewhere."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.unit.study.prediction.conftest import digits, make, write_images

from mklearn.study.config.reading import check_study

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "reports" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "explanation").glob("*.md")),
    *sorted((ROOT / "src" / "mklearn" / "papers").glob("*/README.md")),
]
SCRIPT = Path(__file__).with_name("core_install.py")
README_EXTRAS = {"README.md": "images"}
"""Of README, which installs from its folder."""
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


def installs(page: Path) -> dict[str, list[tuple[str, str | None]]]:
    """Return the Python blocks of a page with what they print, by the extras that the text before them names last.

    None: the page does not say what is printed.
    """
    text = page.read_text(encoding="utf-8")
    found: dict[str, list[tuple[str, str | None]]] = {}
    places = [*BLOCK.finditer(text), None]
    for block, after in itertools.pairwise(places):
        assert block is not None
        if block[1] == "python":
            named = re.findall(r"mklearn\[([\w,]+)\]", text[: block.start()])
            extras = named[-1] if named else README_EXTRAS.get(page.name, "")
            printed = after[2] if after is not None and after[1] == "" else None
            found.setdefault(extras, []).append((block[2], printed))
    return found


def modules_of(extras: str) -> list[str]:
    """Return the top-level modules of all packages that extras install, and of what these need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    waiting = [f"mklearn[{extras}]"]
    seen: set[str] = set()
    while waiting:
        needed = Requirement(waiting.pop())
        if needed.marker is not None and not any(needed.marker.evaluate({"extra": e}) for e in ("", *needed.extras)):
            continue
        if needed.name == "mklearn":
            waiting += [line for extra in needed.extras for line in project[extra]]
        elif canonicalize_name(needed.name) not in seen:
            seen.add(canonicalize_name(needed.name))
            waiting += [line for line in metadata.requires(needed.name) or () if "extra ==" not in line]
    by_module = metadata.packages_distributions()
    return [module for module, names in by_module.items() if seen.intersection(map(canonicalize_name, names))]


def files_for(page: str, folder: Path) -> None:
    """Write what the code of a page reads."""
    images, labels, held = digits()
    if page == "docs/own_data.md":
        names = [f"{label}/{number}.png" for number, label in enumerate(labels)]
        write_images(folder / "path/to/photos", images, names)
    if page == "docs/models.md":
        names = [f"{label}/{number}.png" for number, label in enumerate(labels)]
        write_images(folder / "train", images[~held], [names[k] for k in np.flatnonzero(~held)])
        write_images(folder / "path/to/new-photos", images[held], [names[k] for k in np.flatnonzero(held)])
        photos = {"kind": "image_folder", "path": "train", "resize": {"shape": [16, 16]}}
        study = {"study": "photos", "datasets": {"photos": photos}, "methods": {"all": {"kind": "multi_view"}}}
        descriptors = {"lbp": {"kind": "lbp"}, "hog": {"kind": "hog", "cell": 4}}  # lbp with the chi-squared distance
        protocols = {"halves": {"kind": "k_fold", "folds": 2}}
        make(study | {"descriptors": descriptors, "protocols": protocols, "final": {"method": "all"}}, folder)


@pytest.mark.full
@pytest.mark.parametrize(
    "page", ["README.md", "docs/library.md", "docs/models.md", "docs/own_data.md", "docs/explanation/new_samples.md"]
)
def test_code_runs_in_the_install_that_its_page_names(page: str, tmp_path: Path) -> None:
    """And prints what the page says: modules of other packages are hidden."""
    files_for(page, tmp_path)
    found = installs(ROOT / page)
    assert found
    for extras, code in found.items():
        assert extras, f"{page}: no extra is named before {code[0][0][:60]!r}"
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(SCRIPT), "blocks", *modules_of(extras)], cwd=tmp_path,
            input=json.dumps([text for text, _ in code]), capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        for (_, expected), printed in zip(code, json.loads(done.stdout.splitlines()[-1]), strict=True):
            assert expected is None or printed == expected


@pytest.mark.full
def test_modules_of_an_install() -> None:
    """The check above would pass with any modules, if none were hidden."""
    assert {"skops", "prettytable"} <= set(modules_of("models"))
    assert not {"pandas", "skimage", "numba", "snakemake"} & set(modules_of("models"))
    assert {"pandas", "skimage", "pydantic", "skops"} <= set(modules_of("predict"))
    assert not {"numba", "pyarrow", "snakemake", "cv2"} & set(modules_of("predict"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_studies_are_valid(page: Path) -> None:
    for text in blocks(page, "yaml"):
        check_study(yaml.safe_load(text), str(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    named = re.findall(r"`((?:workflow|docs|reports|envs|tests)/[\w./-]*\w)`", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [name for name in named if not (ROOT / name).exists() and not name.endswith(".sif")]
    assert not missing

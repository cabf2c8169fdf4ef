"""README and docs: their code runs and prints what they say, their studies are valid, their links lead somewhere."""

import contextlib
import io
import itertools
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from tests.unit.study.prediction.conftest import digits, make, write_images

from mklearn.study.reading import check_study

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "reports" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs").glob("[eh]*/*.md")),  # explanation, howto
    *sorted((ROOT / "src" / "mklearn" / "papers").glob("*/README.md")),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


def files_for(page: str, folder: Path) -> None:
    images, labels, held = digits()
    if page == "docs/own_data.md":
        names = [f"{label}/{number}.png" for number, label in enumerate(labels)]
        write_images(folder / "path/to/photos", images, names)
        (folder / "hallmark.gmt").write_text("APOPTOSIS\tabout\tTP53\tBAX\tBCL2\nOTHER\tabout\tTP53\n")
        (folder / "mrna.csv").write_text("id,TP53,BAX\ns1,1,2\n")
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
def test_code_prints_what_its_page_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each Python block, one after the other; what it prints is the block without a language that follows, if any."""
    files_for(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    assert blocks(ROOT / page, "python")
    found = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    for (language, code), (after, expected) in itertools.pairwise([*found, ("end", "")]):
        if language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(code, names)
            assert after or printed.getvalue() == expected, code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_studies_are_valid_and_links_lead_somewhere(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    Path("hallmark.gmt").write_text("HYPOXIA\thttp\tVEGFA\n", encoding="utf-8")
    for block in blocks(page, "yaml"):
        check_study(yaml.safe_load(block), str(page))
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    named = re.findall(r"`((?:workflow|docs|reports|envs|tests)/[\w./-]*\w)`", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [name for name in named if not (ROOT / name).exists() and not name.endswith(".sif")]
    assert not missing


def test_functions_on_the_way_of_a_fit_exist() -> None:
    text = (ROOT / "docs" / "maintainers.md").read_text(encoding="utf-8")
    links = re.findall(r"\[`(?:\w+\.)?(\w+)`\]\(\.\./(\S+\.py)\)", text)
    assert len({path for _, path in links}) > 20
    for name, path in links:
        definition = rf"^(?:(?:def|class) {name}\b|{name}\b.* = )"
        assert re.search(definition, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), (name, path)

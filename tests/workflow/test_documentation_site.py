"""The documentation site is built without a warning, its examples run, and everything it names is there."""

from __future__ import annotations

import html
import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from mklearn.cards import own_entries
from mklearn.study.config.method_groups import GROUPS

NEEDED = (
    "matplotlib",
    "myst_parser",
    "numpydoc",
    "pydata_sphinx_theme",
    "sphinx",
    "sphinx-mathjax-offline",
    "sphinx_gallery",
)
missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed: make docs"),
]


class Page(HTMLParser):
    """The ids of a page, what it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in ("img", "script", "iframe", "source") and "src" in found:
            self.loaded.append(found["src"])
        elif tag == "link" and found.get("rel") == "stylesheet":
            self.loaded.append(found["href"])


@pytest.fixture(scope="module")
def site(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; its examples, half of the time, are not run."""
    return built(repository, tmp_path_factory.mktemp("site"), "--without-examples")


def built(repository: Path, folder: Path, *options: str) -> Path:
    """Build the site without a warning."""
    done = subprocess.run(
        [sys.executable, str(repository / "docs" / "site" / "build.py"), str(folder), *options],
        cwd=folder, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """The pages of the site by their paths."""
    found = (path for path in site.rglob("*.html") if "_static" not in path.parts)  # there lie templates of the theme
    return {path: Page(path.read_text(encoding="utf-8")) for path in found}


def test_links_inside_the_site_lead_somewhere(pages: dict[Path, Page]) -> None:
    assert len(pages) > 200
    broken = set()
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            address, anchor = urldefrag(link)
            if "://" in address or address.startswith(("mailto:", "data:")):
                continue
            target = (path.parent / unquote(address.partition("?")[0])).resolve() if address else path
            if not target.exists() or (anchor and target in pages and unquote(anchor) not in pages[target].ids):
                broken.add(f"{path.name}: {link}")
    assert not broken


def test_pages_load_nothing_from_a_network(pages: dict[Path, Page]) -> None:
    assert not {source for page in pages.values() for source in page.loaded if "//" in source}


def test_everything_that_a_study_can_name_has_a_page(site: Path) -> None:
    sorts = ("methods", "kernels", "descriptors", "protocols")
    expected = {f"{sort}/{kind}.html" for sort in sorts for kind in own_entries(sort)}
    assert expected
    assert {name for name in expected if not (site / name).exists()} == set()
    listed = (site / "methods" / "index.html").read_text(encoding="utf-8")
    assert [title for title in GROUPS if html.escape(title, quote=False) not in listed] == []


def test_reference_pages_say_what_a_field_is_for(site: Path) -> None:
    text = re.sub(r"\s+", " ", (site / "methods" / "multi_view.html").read_text(encoding="utf-8"))
    assert "Only on these protocols of the study; by default on all of them." in text
    assert "Column of the group of each sample" in (site / "configuration.html").read_text(encoding="utf-8")


def test_every_paper_has_a_page_and_every_descriptor_of_images_its_drawing(
    repository: Path, site: Path, pages: dict[Path, Page]
) -> None:
    papers = {path.parent.name for path in (repository / "src" / "mklearn" / "papers").glob("*/README.md")}
    assert papers == {"fsvm", "lmkl", "mkl_dr", "mkmmc", "two_d_mmc"}
    linked = set(pages[site / "papers.html"].links)
    for name in papers:
        path = site / "papers" / f"{name}.html"
        assert f"papers/{name}.html" in linked
        assert [link for link in pages[path].links if link.startswith("../reports/")], name
    for kind in ("hog", "c2_serre", "geometric_blur"):
        assert [name for name in pages[site / "descriptors" / f"{kind}.html"].loaded if name.endswith(f"{kind}.png")]


def test_every_example_has_run_and_drawn(repository: Path, tmp_path: Path) -> None:
    site = built(repository, tmp_path)
    examples = sorted((repository / "docs" / "examples").glob("plot_*.py"))
    assert examples
    for example in examples:
        text = (site / "gallery" / f"{example.stem}.html").read_text(encoding="utf-8")
        assert "sphx-glr-script-out" in text or "sphx-glr-single-img" in text
        assert f"sphx_glr_{example.stem}_001.png" in text


def test_pages_with_formulas_load_what_shows_them(site: Path, pages: dict[Path, Page]) -> None:
    path = site / "explanation" / "sdp_relaxation.html"
    assert path.read_text(encoding="utf-8").count('class="math notranslate') > 20
    assert any("mathjax/tex-chtml.js" in source for source in pages[path].loaded)
    assert len(list((site / "_static" / "mathjax" / "output").rglob("*.woff"))) > 10


def test_public_names_have_pages(pages: dict[Path, Page]) -> None:
    documented = set().union(*(page.ids for page in pages.values()))
    expected = {"mklearn.subspace.MKLDR", "mklearn.optimize.kernel_weights", "mklearn.inspection.view_contributions"}
    assert expected <= documented

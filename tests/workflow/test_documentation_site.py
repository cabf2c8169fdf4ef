"""The documentation site is built without a warning, with its examples, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from mklearn.cards import own_entries

NEEDED = ("matplotlib", "myst_parser", "numpydoc", "pydata_sphinx_theme", "sphinx", "sphinx_gallery")
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
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, str(repository / "docs" / "site" / "build.py"), str(folder)],
        cwd=folder, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return folder / "html"


def test_links_inside_the_site_lead_somewhere_and_nothing_is_loaded_from_a_network(site: Path) -> None:
    found = (path for path in site.rglob("*.html") if "_static" not in path.parts)  # there lie templates of the theme
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in found}
    assert len(pages) > 100
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
    assert not {source for page in pages.values() for source in page.loaded if "//" in source}


def test_everything_that_a_study_can_name_has_a_page_and_every_example_ran(repository: Path, site: Path) -> None:
    sorts = ("methods", "kernels", "descriptors", "protocols")
    expected = [f"{sort}/{kind}.html" for sort in sorts for kind in own_entries(sort)]
    assert [name for name in expected if not (site / name).exists()] == []
    for example in (repository / "docs" / "examples").glob("plot_*.py"):
        text = (site / "gallery" / f"{example.stem}.html").read_text(encoding="utf-8")
        assert f"sphx_glr_{example.stem}_001.png" in text

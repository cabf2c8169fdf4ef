"""The documentation is built without a warning, its examples run, and everything that it names is there."""

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from mklearn.study.listings import ENTRIES

NEEDED = ("myst_parser", "numpydoc", "pydata_sphinx_theme", "sphinx", "sphinx-mathjax-offline", "sphinx_gallery")
missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed: make docs"),
]


class Page:
    def __init__(self, text: str) -> None:
        text = re.sub(r"<script(?![^>]*src=).*?</script>", "", text, flags=re.DOTALL)
        self.ids = set(map(unescape, re.findall(r'<[^>]+\s(?:id|name)="([^"]+)"', text)))
        self.links = list(map(unescape, re.findall(r'<a\s[^>]*?href="([^"]+)"', text)))
        self.loaded = re.findall(r'<(?:img|script|iframe|source)\s[^>]*?src="([^"]+)"', text)
        self.loaded += re.findall(r'<link\s[^>]*?rel="stylesheet"[^>]*?href="([^"]+)"', text)


@pytest.fixture(scope="module")
def site(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; a warning fails."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, str(repository / "docs" / "site" / "build.py"), str(folder)],
        cwd=folder.parent, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    paths = (path for path in site.rglob("*.html") if "_static" not in path.parts)  # there lie templates of the theme
    return {path: Page(path.read_text(encoding="utf-8")) for path in paths}


def test_links_lead_somewhere_and_nothing_is_loaded_from_a_network(pages: dict[Path, Page]) -> None:
    assert len(pages) > 200
    broken = set()
    for path, page in pages.items():
        assert not [source for source in page.loaded if "//" in source]
        for link in [*page.links, *page.loaded]:
            address, anchor = urldefrag(link)
            if "://" in address or address.startswith(("mailto:", "data:")):
                continue
            target = (path.parent / unquote(address.partition("?")[0])).resolve() if address else path
            if not target.exists() or (anchor and target in pages and unquote(anchor) not in pages[target].ids):
                broken.add(f"{path.name}: {link}")
    assert not broken


def test_public_names_and_names_of_studies_documented(repository: Path, site: Path, pages: dict[Path, Page]) -> None:
    for sort in ("methods", "kernels", "descriptors", "protocols"):
        terms = {f"term-{kind}".replace("_", "-") for kind in ENTRIES[sort].rows}
        assert terms <= {name.replace("_", "-") for name in pages[site / f"{sort}.html"].ids}
    public = runpy.run_path(str(repository / "docs" / "site" / "api_pages.py"))
    documented = set().union(*(page.ids for page in pages.values()))
    assert set(public["full_names"](public["MODULES"])) <= documented
    assert "Column of the group of each sample" in (site / "configuration.html").read_text(encoding="utf-8")


def test_every_example_has_run_and_drawn(repository: Path, site: Path) -> None:
    examples = sorted((repository / "docs" / "examples").glob("plot_*.py"))
    assert examples
    for example in examples:
        text = (site / "gallery" / f"{example.stem}.html").read_text(encoding="utf-8")
        assert "sphx-glr-script-out" in text or "sphx-glr-single-img" in text
        assert f"sphx_glr_{example.stem}_001.png" in text


def test_papers_link_to_their_reports_and_formulas_are_shown(site: Path, pages: dict[Path, Page]) -> None:
    for name in ("fsvm", "lmkl", "mkl_dr", "mkmmc", "two_d_mmc"):
        links = pages[site / "src" / "mklearn" / "papers" / name / "README.html"].links
        assert [link for link in links if "/reports/" in link], name
    path = site / "docs" / "explanation" / "sdp_relaxation.html"
    assert path.read_text(encoding="utf-8").count('class="math notranslate') > 20
    assert any((path.parent / source.partition("?")[0]).name == "tex-chtml.js" for source in pages[path].loaded)

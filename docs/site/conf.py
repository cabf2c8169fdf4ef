"""Sphinx configuration of the documentation; `build.py` lays out the pages that Sphinx reads."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

from api_pages import ROOMS, full_names
from docutils import nodes
from pygments.lexers.special import TextLexer
from registry_pages import escaped
from sphinx import addnodes
from sphinx.application import Sphinx

from mklearn import __version__
from mklearn.methods import METHODS

HERE = Path(__file__).resolve().parent

project = "mklearn"
author = "The mklearn developers"
copyright = author
release = version = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # no page needs a network
]
templates_path = [str(HERE / "templates")]  # autosummary looks in the folder of the pages
include_patterns = [
    "*.*", "api/**", "gallery/*", "docs/*.md", "docs/explanation/*", "reports/README.md", "reports/*/summary.md",
    "src/mklearn/papers/*/README.md",
]  # fmt: skip
default_role = "literal"
smartquotes = False  # A'KA is a formula
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
suppress_warnings = ["config.cache", "ref.ref"]  # sorting keys of the gallery; docstrings inherited from scikit-learn

myst_enable_extensions = ["attrs_inline", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "mklearn"
html_static_path = ["static"]
html_css_files = ["site.css"]
mathjax3_config = {"options": {"enableMenu": False}}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "mklearn"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_prev_next": False,
    "show_toc_level": 2,
    "collapse_navigation": True,
    "navigation_depth": 3,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "**": ["sidebar-nav-bs"]}

sphinx_gallery_conf = {
    "examples_dirs": "docs/examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
}
warnings.filterwarnings("ignore", message="Matplotlib is currently using agg")


LONGEST = 15_000
"""Characters of a report that is shown whole; of a longer one, the tables are in its files."""
APPENDED = {
    "index": """```{toctree}
:hidden:

Examples <gallery/index>
how_to
reference
explanation
papers
reports/README
development
```""",
    "reports/README": "## Tables and figures\n\n```{toctree}\n:glob:\n:maxdepth: 1\n\n*/summary\n```",
}
"""Lists of pages, after the text of a page."""
FULL_NAMES = {name: full for full in full_names(ROOMS) for name in (full, full.rpartition(".")[2])}


def complete(app: Sphinx, page: str, content: list[str]) -> None:
    """Append the list of pages to a page, and to the summary of a report its files and figures."""
    content[0] += f"\n\n{APPENDED.get(page, '')}\n"
    if page.startswith("reports/") and page.endswith("/summary"):
        names = sorted(path.name for path in Path(app.env.doc2path(page)).parent.iterdir())
        text = content[0] if len(content[0]) <= LONGEST else content[0].partition("\n## ")[0]
        files = ", ".join(f"{{download}}`{name} <{name}>`" for name in names if name.endswith((".csv", ".md")))
        figures = "\n\n".join(f"![{name.removesuffix('.svg')}]({name})" for name in names if name.endswith(".svg"))
        content[0] = f"{text}\n\n## Files\n\n{files}\n\n{figures}\n"


def escape_formulas(app: Sphinx, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Escape formulas in a docstring, after numpydoc has read it."""
    lines[:] = [line if re.match(r"\s*(>>>|\.\.)", line) else escaped(line) for line in lines]


def link_names(app: Sphinx, page: nodes.document) -> None:
    """Make code that is a public name, or a method of a study, a link to where it is documented."""
    for node in list(page.findall(nodes.literal)):
        name = node.astext()
        if isinstance(node.parent, nodes.reference | nodes.title | nodes.term | addnodes.pending_xref):
            continue
        if name in FULL_NAMES:
            link = addnodes.pending_xref("", refdomain="py", reftype="obj", reftarget=FULL_NAMES[name])
        elif name in METHODS:
            link = addnodes.pending_xref("", refdomain="std", reftype="term", reftarget=name)
        else:
            continue
        node.replace_self(link)
        link += node


def setup(app: Sphinx) -> None:
    """Connect what the pages need."""
    app.add_lexer("mermaid", TextLexer)  # the graph of the rules in the README, which forges draw
    app.connect("source-read", complete)
    app.connect("autodoc-process-docstring", escape_formulas, priority=900)
    app.connect("doctree-read", link_names)

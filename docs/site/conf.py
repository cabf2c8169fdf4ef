"""Sphinx configuration of the documentation; `build.py` lays out the pages that Sphinx reads."""

from __future__ import annotations

import warnings
from pathlib import Path

from api_pages import MODULES, full_names
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from mklearn import __version__
from mklearn.methods import METHODS

project = html_title = "mklearn"
copyright = "The mklearn developers"
release = version = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # no page needs a network
]
templates_path = [str(Path(__file__).parent / "templates")]  # autosummary looks in the folder of the pages
include_patterns = [
    "*.*", "api/**", "gallery/*", "docs/*.md", "docs/explanation/*", "docs/howto/*", "reports/README.md",
    "reports/*/summary.md", "src/mklearn/papers/*/README.md",
]  # fmt: skip
exclude_patterns = ["README.md"]  # `index.md` includes it
default_role = "literal"
smartquotes = False  # A'KA is a formula
# Sorting keys of the gallery; Mermaid graphs, which forges draw; docstrings inherited from scikit-learn.
suppress_warnings = ["config.cache", "misc.highlighting_failure", "ref.ref"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"
numpydoc_show_class_members = False
sphinx_gallery_conf = {
    "examples_dirs": "docs/examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "write_computation_times": False,
}
warnings.filterwarnings("ignore", message="Matplotlib is currently using agg")

html_theme = "pydata_sphinx_theme"
html_theme_options = {"logo": {"text": "mklearn"}, "show_prev_next": False, "header_links_before_dropdown": 7}
html_sidebars: dict[str, list[str]] = {"index": []}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False

LINKS = {name: ("std", "term", name) for name in METHODS}
"""Domain, role and target of the documentation of each method of a study and each public name."""
for full_name in full_names(MODULES):
    LINKS[full_name] = LINKS[full_name.rpartition(".")[2]] = ("py", "obj", full_name)


def shorten_reports(app: Sphinx, page: str, content: list[str]) -> None:
    """Replace the tables of a report's summary with its figures and links to its files."""
    if page.startswith("reports/") and page.endswith("/summary"):
        paths = sorted(Path(app.env.doc2path(page)).parent.iterdir())
        tables = [f"{{download}}`{path.name} <{path.name}>`" for path in paths if path.suffix in (".csv", ".md")]
        figures = [f"![{path.stem}]({path.name})" for path in paths if path.suffix == ".svg"]
        content[0] = "\n\n".join([content[0].partition("\n## ")[0], *figures, "## Files", ", ".join(tables)])


def link_names(app: Sphinx, page: nodes.document) -> None:
    """Make code that is a public name, or a method of a study, a link to its documentation."""
    for node in list(page.findall(nodes.literal)):
        within_text = not isinstance(node.parent, nodes.reference | nodes.title | nodes.term | addnodes.pending_xref)
        if within_text and node.astext() in LINKS:
            keys = ("refdomain", "reftype", "reftarget")
            link = addnodes.pending_xref("", **dict(zip(keys, LINKS[node.astext()], strict=True)))
            node.replace_self(link)
            link += node


def setup(app: Sphinx) -> None:
    """Connect what the pages need."""
    app.connect("source-read", shorten_reports)
    app.connect("doctree-read", link_names)

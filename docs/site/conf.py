"""Sphinx configuration of the documentation site; `build.py` lays out the pages that Sphinx reads."""

from __future__ import annotations

import shutil
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

from sphinx.application import Sphinx

from mklearn import __version__

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

project = "mklearn"
author = "The mklearn developers"
copyright = author
release = version = __version__

extensions = [
    "plain_formulas",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
templates_path = [str(HERE / "templates")]  # autosummary looks in the folder of the pages
exclude_patterns = ["examples/**", "files/**"]
default_role = "autolink"
smartquotes = False  # A'KA is a formula
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
suppress_warnings = ["config.cache"]  # sphinx-gallery's sorting keys

myst_enable_extensions = ["attrs_inline", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "mklearn"
html_static_path = ["static"]
html_css_files = ["site.css"]
mathjax_path = "mathjax/tex-chtml.js"  # copied below: no page needs a network
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
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "plot_gallery": "True",
    "matplotlib_animations": False,
}
warnings.filterwarnings("ignore", message="Matplotlib is currently using agg")


def copy_mathjax(app: Sphinx) -> None:
    """Copy the script that shows formulas, and its fonts."""
    package = find_spec("sphinx-mathjax-offline")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("sphinx-mathjax-offline is not installed: make docs")
    origin, target = Path(package.origin).parent / "static" / "mathjax", Path(app.outdir) / "_static" / "mathjax"
    for name in ("tex-chtml.js", "output/chtml/fonts/woff-v2"):
        for path in (origin / name, *(origin / name).glob("*")):
            if path.is_file():
                copy = target / path.relative_to(origin)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)


def setup(app: Sphinx) -> None:
    """Connect it."""
    app.connect("builder-inited", copy_mathjax)

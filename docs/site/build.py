"""Build the documentation: ``python docs/site/build.py FOLDER [OPTIONS OF SPHINX]`` writes FOLDER/html (``make docs``).

FOLDER/pages has the pages of the repository, each at its place, and the generated ones. Warnings are errors.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "src")]

from api_pages import api_pages  # noqa: E402
from registry_pages import pages  # noqa: E402


def lay_out(source: Path) -> None:
    """Make the folder that Sphinx reads: copies, as Sphinx resolves links of the file system."""
    shutil.rmtree(source / "api", ignore_errors=True)  # pages of names that are gone
    for name in ("docs", "reports", "src", "workflow"):
        shutil.rmtree(source / name, ignore_errors=True)
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for path in [*ROOT.glob("*.md"), *(HERE / "pages").glob("*.md")]:
        shutil.copy2(path, source / path.name.replace("README", "index"))
    for name, text in (api_pages() | pages()).items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    lay_out(folder / "pages")
    options = ["-q", "-W", "--keep-going", "-c", str(HERE), "-d", str(folder / "doctrees"), *sys.argv[2:]]
    sys.exit(build_main([*options, str(folder / "pages"), str(folder / "html")]))

"""Build the documentation (`make docs`): ``build.py FOLDER`` writes FOLDER/pages and FOLDER/html; a warning fails."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "src")]

from api_pages import api_pages  # noqa: E402
from registry_pages import registry_pages  # noqa: E402

if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    source = folder / "pages"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("docs", "reports", "src", "workflow"):  # copies, as Sphinx resolves symbolic links
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for path in [*ROOT.glob("*.md"), *(HERE / "pages").glob("*.md")]:
        shutil.copy2(path, source)
    (source / "api").mkdir()
    for name, text in (api_pages() | registry_pages()).items():
        (source / name).write_text(text, encoding="utf-8")
    options = ["-q", "-W", "--keep-going", "-c", str(HERE), "-d", str(folder / "doctrees")]
    sys.exit(build_main([*options, str(source), str(folder / "html")]))

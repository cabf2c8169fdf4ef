"""Build the documentation site: ``python docs/site/build.py FOLDER`` writes FOLDER/html (``make docs``).

Pages of `docs/`, of the repository's root and of `reports/`, and those that are generated from the registry, are laid
out in FOLDER/source; nothing is written anywhere else. Warnings are errors.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "src")]

from api_pages import api_pages, public_names  # noqa: E402
from descriptor_pictures import draw_descriptors  # noqa: E402
from paper_pages import paper_index, papers  # noqa: E402
from registry_pages import pages  # noqa: E402
from report_pages import report_pages  # noqa: E402

FROM_ROOT = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md"}
"""Pages outside `docs/`, by the names that they have on the site."""
CODE = re.compile(r"^```.*?^```$|(`+)(.+?)\1", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+\.(?:md|svg))")
SOURCE_LINK = re.compile(r"\[(`[^`]+`)\]\([^)\s]+\.(?:py|smk)\)")
"""To a file of the code, which is not on the site."""


def lay_out(source: Path) -> None:
    """Write all pages that Sphinx reads; files that are as they were keep their time."""
    moved = {ROOT / name: source / page for name, page in FROM_ROOT.items()}
    moved |= {path: source / path.name for path in sorted((ROOT / "docs").glob("*.md"))}
    moved |= {path: source / "explanation" / path.name for path in sorted((ROOT / "docs/explanation").glob("*.md"))}
    moved |= {path: source / path.relative_to(HERE / "pages") for path in sorted((HERE / "pages").rglob("*.md"))}
    moved |= {path: source / "papers" / f"{name}.md" for name, path in papers(ROOT).items()}
    generated = {**pages(ROOT), **api_pages(), **report_pages(ROOT), "papers.md": paper_index(ROOT)}
    written = {source / name: text for name, text in generated.items()}
    moved[ROOT / "reports" / "README.md"] = source / "reports.md"
    kinds = {path.stem: path for path in written if path.parent.name == "methods" and path.stem != "index"}
    places = moved | {path: source / "reports" / f"{path.parent.name}.md" for path in (ROOT / "reports").glob("*/*.md")}
    for original, target in moved.items():
        text = original.read_text(encoding="utf-8")
        if original == ROOT / "reports" / "README.md":
            text += "\n" + written.pop(source / "reports.md")
        written[target] = linked(relinked(text, original, target, places), target, kinds)
    for target, text in written.items():
        write(target, text)
    shutil.copytree(ROOT / "docs" / "examples", source / "examples", dirs_exist_ok=True)
    draw_descriptors(source / "pictures")
    figures = [path for path in (ROOT / "reports").rglob("*") if path.suffix in (".svg", ".csv", ".md")]
    for path in figures:
        target = source / "files" / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)


def relinked(text: str, original: Path, target: Path, moved: dict[Path, Path]) -> str:
    """Return a page with its links to other pages as they are on the site."""

    def replace(match: re.Match[str]) -> str:
        path = (original.parent / match.group(1)).resolve()
        return f"]({os.path.relpath(moved[path], target.parent)}" if path in moved else match.group()

    return LINK.sub(replace, SOURCE_LINK.sub(r"\1", text))


def linked(text: str, target: Path, kinds: dict[str, Path]) -> str:
    """Return a page where code that is a method's kind or a public name is a link to its page."""

    def replace(match: re.Match[str]) -> str:
        code = match.group(2)
        if code in kinds:
            return f"[`{code}`]({os.path.relpath(kinds[code], target.parent)})"
        if code in NAMES:
            return f"{{py:obj}}`{code} <{NAMES[code]}>`"
        return match.group()

    headings = re.compile(r"(^#.*$|\[[^\]]*\]\([^)]*\))", flags=re.MULTILINE)
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    for i in range(0, len(parts), 2):
        pieces = headings.split(parts[i])
        pieces[::2] = [CODE.sub(replace, piece) for piece in pieces[::2]]
        parts[i] = "".join(pieces)
    return "".join(parts)


NAMES = public_names()


def write(path: Path, text: str) -> None:
    """Write a file, unless it has this text already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main() -> int:
    """Lay out the pages and run Sphinx; return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the site is built")
    parser.add_argument("--builder", default="html", help="Sphinx's builder (html, linkcheck)")
    options = parser.parse_args()
    folder = options.folder.resolve()
    lay_out(folder / "source")
    from sphinx.cmd.build import build_main

    return build_main(
        ["-q", "-W", "--keep-going", "-b", options.builder, "-c", str(HERE), "-d", str(folder / "doctrees"),
         str(folder / "source"), str(folder / options.builder)]
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

"""Pages of the papers: what holds of each and what does not, from its folder in `src/mklearn/papers/`."""

from __future__ import annotations

from pathlib import Path


def papers(root: Path) -> dict[str, Path]:
    """Return the page of each paper by the name of its folder."""
    return {path.parent.name: path for path in sorted((root / "src" / "mklearn" / "papers").glob("*/README.md"))}


def paper_index(root: Path) -> str:
    """Return the page that lists them."""
    names = "\n".join(f"papers/{name}" for name in papers(root))
    text = "Each page says which cells, figures and claims of a paper hold, which do not, and what is out of reach."
    return f"# The papers\n\n{text}\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"

"""Pages of the published reports: the tables and figures of each study, from its folder in `reports/`."""

from __future__ import annotations

import re
from pathlib import Path

LONGEST = 15_000
"""Characters of a summary that is shown whole; of a longer one, the tables are in its file."""


def report_pages(root: Path) -> dict[str, str]:
    """Return the text of each page by its path; ``reports.md`` is what follows reports/README.md."""
    written = {}
    names = []
    for folder in sorted(path for path in (root / "reports").iterdir() if path.is_dir()):
        names.append(folder.name)
        written[f"reports/{folder.name}.md"] = report(folder)
    written["reports.md"] = "\n".join(
        [
            "## Tables and figures",
            "",
            "```{toctree}",
            ":maxdepth: 1",
            "",
            *(f"reports/{name}" for name in names),
            "```\n",
        ]
    )
    return written


def report(folder: Path) -> str:
    """Return the page of one study: its tables, figures and files."""
    summary = folder / "summary.md"
    text = summary.read_text(encoding="utf-8") if summary.exists() else f"# {folder.name}\n"
    text = re.sub(r"^# .*\n", f"\\g<0>\n`{folder.name}`\n", text, count=1)
    if len(text) > LONGEST:
        text = f"{text.partition(chr(10) + '## ')[0]}\n\nAll tables are in `summary.md` below."
    base = f"../files/reports/{folder.name}"
    files = sorted(path.name for path in folder.iterdir() if path.suffix in (".csv", ".md"))
    figures = sorted(path for path in folder.iterdir() if path.suffix == ".svg")
    parts = [text.rstrip(), "## Files", ", ".join(f"{{download}}`{name} <{base}/{name}>`" for name in files)]
    if figures:
        parts += ["## Figures", *(f"![{path.stem.replace('-', ' ')}]({base}/{path.name})" for path in figures)]
    return "\n\n".join(parts) + "\n"

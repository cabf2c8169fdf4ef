"""Write envs/mklearn.yaml, the conda environment, with the same versions as requirements.lock (`make lock` runs this).

Only direct dependencies are named: conda-forge resolves what they need. A test compares them. Four packages come by pip
with the lock's version: two are counted otherwise on conda-forge than on PyPI, the others may be missing there.
"""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONDA_NAMES = {"lazy-loader": "lazy_loader", "snakemake": "snakemake-minimal"}
SEPARATE = {"docs", "slurm"}
"""Extras that an environment gets by a command of its own."""
BY_PIP = {"mosek", "opencv-python-headless", "rocrate", "vl-convert-python"}


def locked(lock: Path) -> dict[str, str]:
    """Versions by package name."""
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", lock.read_text(encoding="utf-8"), flags=re.MULTILINE))


def environment() -> str:
    """The text of envs/mklearn.yaml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (lines for name, lines in project["optional-dependencies"].items() if name not in SEPARATE)
    every = [re.match(r"[a-z0-9._-]+", line).group() for line in chain(project["dependencies"], *extras)]  # type: ignore[union-attr]
    names = {name for name in every if name != project["name"]}
    versions = locked(ROOT / "requirements.lock")
    lines = [
        "# Made from requirements.lock by envs/from_lock.py; do not edit. Then: pip install --no-deps -e .",
        "name: mklearn",
        "channels: [conda-forge, bioconda, nodefaults]",
        "dependencies:",
        f"  - python {project['requires-python']}",
        *(f"  - {CONDA_NAMES.get(name, name)} =={versions[name]}" for name in sorted(names - BY_PIP)),
        "  - pip",
        "  - pip:",
        *(f"      - {name}=={versions[name]}" for name in sorted(names & BY_PIP)),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "envs" / "mklearn.yaml").write_text(environment(), encoding="utf-8")

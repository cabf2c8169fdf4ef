"""Install a package for a test without a network: copy its source, and write the metadata of an installer."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

SOURCE = Path(__file__).parent


def install(site: Path, source: Path = SOURCE) -> Path:
    """Copy the package with its ``*.dist-info`` into a folder for PYTHONPATH; return the folder."""
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module = project["name"].removeprefix("mklearn-") + "_package"
    shutil.copytree(source / module, site / module, ignore=shutil.ignore_patterns("__pycache__"))
    write_metadata(site, project["name"], project["version"], project["entry-points"])
    return site


def write_metadata(site: Path, name: str, version: str, entry_points: dict[str, dict[str, str]]) -> None:
    """Write ``METADATA`` and ``entry_points.txt`` of a package."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    lines = []
    for group, points in entry_points.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items()), ""]
    (folder / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")

"""The command that writes a study that was run as an archive."""

from __future__ import annotations

import argparse
from pathlib import Path

from mklearn.extras import require


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``export``."""
    export = commands.add_parser(
        "export",
        help="write a study that was run as an archive for others: a Workflow Run RO-Crate",
        description="The archive has the study file, the workflow, versions, results, checksums of everything, and a "
        "REFORMS checklist that is filled from the study. Registered data are named by address and sha256.",
    )
    export.add_argument("study", metavar="STUDY", help="study file, or name of a study of mklearn")
    export.add_argument("out", metavar="FILE.zip", help="the archive")
    export.add_argument("--author", metavar="NAME", default="", help="who ran the study")
    export.add_argument("--orcid", metavar="ID", default="", help="ORCID of the author")
    export.add_argument("--licence", metavar="URL", default="", help="licence of the archive")
    export.add_argument("--include-data", action="store_true", help="copy your own data into it too")
    export.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> None:
    require("rocrate")
    from mklearn.study.engine.crate import Authorship, export_crate

    authorship = Authorship(options.author, options.orcid, options.licence)
    print(export_crate(options.study, Path(options.out), authorship, options.include_data))

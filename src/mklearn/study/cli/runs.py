"""Commands that run a study with Snakemake, and list its failures."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from mklearn.errors import ConfigError
from mklearn.extras import require

STUDY_HELP = "study file, or the name of a study of mklearn (default: config.yaml here, or mklearn's)"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands ``run`` and ``failed`` to the parser."""
    run = commands.add_parser(
        "run",
        help="run a study; results and cache go to the present folder",
        usage="%(prog)s [STUDY] [--cores N] [--dry-run] [--verbose] [-- SNAKEMAKE OPTIONS AND FILES]",
    )
    run.add_argument("study", nargs="?", metavar="STUDY", help=STUDY_HELP)
    run.add_argument("--dry-run", action="store_true", help="run nothing: list what would run, and why")
    _add_display(run)
    run.set_defaults(run=_run)

    failed = commands.add_parser(
        "failed",
        help="list the fits that failed or are missing; --run runs them again",
        usage="%(prog)s [STUDY ...] [--targets | --run [--cores N] [--verbose] [-- SNAKEMAKE OPTIONS]]",
    )
    failed.add_argument("study", nargs="*", metavar="STUDY", help="study files (default: config.yaml)")
    action = failed.add_mutually_exclusive_group()
    action.add_argument("--targets", action="store_true", help="only the files that `snakemake --forcerun` takes")
    action.add_argument("--run", action="store_true", dest="again", help="run the failed fits again")
    _add_display(failed)
    failed.set_defaults(run=_failed)


def _add_display(command: argparse.ArgumentParser) -> None:
    command.add_argument("--cores", metavar="N", help="how many cores to use (default: all)")
    command.add_argument("--verbose", action="store_true", help="show every job, not a display of progress")
    command.set_defaults(snakemake=[])


def _run(options: argparse.Namespace) -> int:
    if options.dry_run:
        quiet = [] if options.verbose else ["--quiet", "rules", "host"]
        return run_snakemake(options.study, [*quiet, "--cores", "1", "--dry-run", *options.snakemake])
    return run_snakemake(options.study, [*_cores(options), *options.snakemake], _display(options))


def _cores(options: argparse.Namespace) -> list[str]:
    """Return Snakemake's option for cores: all cores, unless a profile or an executor is given."""
    if options.cores not in (None, "all") and not (options.cores.isdecimal() and int(options.cores) > 0):
        raise ConfigError(f"--cores {options.cores}: expected a whole number from 1, or all.")
    elsewhere = {"--workflow-profile", "--profile", "--executor", "--jobs", "-j"} & set(options.snakemake)
    return ["--cores", options.cores or "all"] if options.cores or not elsewhere else []


def _display(options: argparse.Namespace) -> str:
    planned = {"--dry-run", "--dryrun", "-n"} & set(options.snakemake)
    return "mklearn" if sys.stderr.isatty() and not (options.verbose or planned) else ""


def _failed(options: argparse.Namespace) -> int:
    from mklearn.study.engine.failures import failures_in

    studies = options.study or [None]
    text, files = failures_in(studies)
    if files or not options.targets:
        print("\n".join(files) if options.targets else text)
    if not options.again:
        return 0
    if len(studies) > 1:
        raise ConfigError("failed --run takes one study.")
    if not files:
        print("Nothing to run again.")
        return 0
    return run_snakemake(studies[0], [*_cores(options), "--forcerun", *files, *options.snakemake], _display(options))


def run_snakemake(study: str | None, words: Sequence[str], display: str = "") -> int:
    """Run Snakemake on a study in this process and the current folder; return its exit status.

    In a checkout this equals ``snakemake --configfile STUDY WORDS``. ``display`` is ``mklearn`` for the progress; by
    default Snakemake prints its own messages. Raise ConfigError if the study does not exist or has mistakes, or if its
    results can't be written.
    """
    require("snakemake")
    from mklearn.study.engine.workflow_files import DEFAULT_STUDY, study_file, workflow_file
    from mklearn.study.reading import read_study

    arguments = ["--logger", display] if display else []
    arguments += ["--snakefile", str(workflow_file("Snakefile"))]
    if "--workflow-profile" not in words:  # ignore the profile of another workflow in this folder
        arguments += ["--workflow-profile", str(workflow_file("profiles/default"))]
    path = study_file(study)
    if not os.access(".", os.W_OK):
        raise ConfigError(f"{Path.cwd()}: this folder can't be written to; start the run in a writable one")
    read_study(path, parameters=True)
    if path != Path(DEFAULT_STUDY):  # the Snakefile reads the default itself
        arguments += ["--configfile", str(path)]
    from snakemake.cli import main
    from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

    from mklearn.study.engine import progress

    LoggerPluginRegistry().register_plugin("mklearn", progress)
    try:
        main([*arguments, *words])
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0

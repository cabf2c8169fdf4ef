"""The command line: ``python -m mklearn``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mklearn.errors import ConfigError, UserError

OWN_TABLES = ("feature_tables", "precomputed")
"""Readers of the user's own data that `validate` calls; images are only listed, as decoding takes long."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 on success, 1 for a user's mistake; exit with 2 for an invalid command line."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        return options.run(options) or 0
    except UserError as error:
        print(f"mklearn: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m mklearn",
        description="Learning from many kernels. Studies are run with Snakemake (see the README); "
        "these commands check a study, list what is registered, and replay single steps.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    validate = commands.add_parser("validate", help="check a study file, and your own tables and matrices")
    validate.add_argument("file", nargs="+", help="study file (YAML)")
    validate.set_defaults(run=_validate)

    for name, help_text in (
        ("datasets", "list the registered data sets"),
        ("descriptors", "list the descriptors, with their parameters"),
        ("kernels", "list the kernels, with their parameters"),
        ("methods", "list the methods, with their parameters and papers"),
        ("protocols", "list the protocols, with their parameters"),
    ):
        listing = commands.add_parser(name, help=help_text)
        listing.set_defaults(run=_list, what=name)

    solvers = commands.add_parser("solvers", help="say which solvers of semidefinite problems can run here")
    solvers.set_defaults(run=_solvers)

    schema = commands.add_parser("schema", help="print the JSON schema of study files, for editors")
    schema.set_defaults(run=_schema)

    explain = commands.add_parser(
        "explain",
        help="say where a file came from, and why a run would or would not make it again",
        description="Run it in the folder of the checkout. FILE may be missing: then it says how it would be made.",
    )
    explain.add_argument("file", metavar="FILE", help="a file in results/ (or a log in logs/)")
    explain.add_argument("--study", metavar="STUDY.yaml", help="the study to ask about (default: config.yaml)")
    explain.set_defaults(run=_explain)

    failed = commands.add_parser(
        "failed",
        help="list the fits of a study that failed or are missing, and why",
        description="Run it in the folder of the checkout. `make failed` lists them, and runs them again.",
    )
    failed.add_argument("study", nargs="*", metavar="STUDY.yaml", help="study files (default: config.yaml)")
    failed.add_argument("--targets", action="store_true", help="only the files that `snakemake --forcerun` takes")
    failed.set_defaults(run=_failed)

    verify = commands.add_parser(
        "verify",
        help="compare the files in results/ with the checksums that they were written with",
        description="Run it in the folder of the checkout, and not during a run. Damaged files are renamed to "
        "NAME.damaged, and the next run makes them again. Ends with 1 if there are any.",
    )
    verify.add_argument("study", nargs="*", metavar="STUDY.yaml", help="study files (default: config.yaml)")
    verify.set_defaults(run=_verify)

    step = commands.add_parser(
        "step",
        help="run one step of the workflow by itself",
        description="The first line of every log in logs/ is such a command: paste it to replay that job.",
    )
    step.add_argument("name", help="the step; 'list' lists them")
    step.add_argument("--spec", default="{}", metavar="JSON", help="specification: JSON, or a file that holds it")
    step.add_argument("--in", dest="inputs", action="append", default=[], metavar="KEY=PATH", help="input file; repeat")
    step.add_argument("--out", dest="outputs", action="append", default=[], metavar="KEY=PATH", help="output file")
    step.add_argument("--threads", type=int, default=1)
    step.set_defaults(run=_step)
    return parser


def _validate(options: argparse.Namespace) -> int:
    from mklearn.datasets.read import read_dataset
    from mklearn.study.expansion.plan import plan_study
    from mklearn.study.reading import read_study

    failed = 0
    for file in options.file:
        try:
            plan = plan_study(read_study(file))
            own = [dataset.read.as_dict() for dataset in plan.datasets.values() if not dataset.downloads]
            notes = [note for spec in own if spec["reader"] in OWN_TABLES for note in read_dataset(spec).notes]
        except UserError as error:
            print(f"mklearn: {error}", file=sys.stderr)
            failed = 1
            continue
        print(
            f"{file}: study {plan.study.study!r} is valid: {len(plan.datasets)} data sets, "
            f"{len(plan.descriptors)} descriptors, {len(plan.pairwise)} distances, {len(plan.fits)} fits."
        )
        print("".join(f"note: {note}\n" for note in notes), end="")
    return failed


def _list(options: argparse.Namespace) -> None:
    from mklearn.study.registry import describe_all

    print(describe_all(options.what))


def _solvers(options: argparse.Namespace) -> None:
    from mklearn.optimize.solvers import SDP_SOLVERS, available_solvers, solver_problem

    for name in SDP_SOLVERS:
        print(f"{name}: {solver_problem(name) or 'can run'}")
    print(f"solver: auto is {next(iter(available_solvers()), 'none of them')}")


def _schema(options: argparse.Namespace) -> None:
    from mklearn.study.schema import study_schema

    print(study_schema(), end="")


def _explain(options: argparse.Namespace) -> None:
    from mklearn.engine.explain import explain

    print(explain(options.file, options.study), end="")


def _failed(options: argparse.Namespace) -> None:
    from mklearn.engine.failures import files_to_run_again, report

    studies = options.study or ["config.yaml"]
    if not options.targets:
        print(report(studies))
    elif files := files_to_run_again(studies):
        print("\n".join(files))


def _verify(options: argparse.Namespace) -> int:
    from mklearn.engine.integrity import verify

    text, damaged = verify(options.study or ["config.yaml"])
    print(text)
    return int(damaged > 0)


def _step(options: argparse.Namespace) -> None:
    from mklearn.steps import log
    from mklearn.steps.runner import STEPS, call

    if options.name == "list":
        print("\n".join(STEPS))
        return
    log.start()
    call(options.name, _files(options.inputs), _files(options.outputs), _spec(options.spec), options.threads)


def _files(pairs: Sequence[str]) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for pair in pairs:
        key, separator, path = pair.partition("=")
        if not separator or not key or not path:
            raise ConfigError(f"{pair!r} is not KEY=PATH.")
        files.setdefault(key, []).append(path)
    return {key: paths[0] if len(paths) == 1 else paths for key, paths in files.items()}


def _spec(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text if text.lstrip().startswith("{") else Path(text).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"--spec {text}: can't be read: {error.strerror}.") from None
    except json.JSONDecodeError as error:
        raise ConfigError(f"--spec is not JSON: {error}.") from None
    if not isinstance(content, dict):
        raise ConfigError("--spec: a specification is a JSON object.")
    return content


if __name__ == "__main__":
    raise SystemExit(main())

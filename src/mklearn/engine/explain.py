"""``python -m mklearn explain FILE``: where a file came from, and why a run would or would not make it again.

Where it came from is in the file's stamp. What a run would do is Snakemake's own plan, made by a dry run in this
process with the settings of the profile.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import shlex
import textwrap
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mklearn.engine.differences import SHOWN, differences, enumerated, input_states
from mklearn.errors import ConfigError, DataError
from mklearn.provenance import code_digests, code_fingerprint, step_code
from mklearn.stamps import load_json, read_stamp, stamp_beside
from mklearn.steps.runner import command
from mklearn.study.schema import yaml_text

LINES_SHOWN = 16
KEY = re.compile(r"-[0-9a-f]{8}(?=[/.]|$)")
"""What a specification adds to a name."""
Stamp = dict[str, Any]


@dataclass(frozen=True)
class DryRun:
    """Snakemake's plan for one file."""

    source: str
    """The study file."""
    workflow: Any
    job: Any
    """What makes the file; None if the study does not plan it."""

    def record(self, path: str) -> Any:
        """Return what Snakemake noted when it saw the file made, or None."""
        from snakemake.io import IOFile

        found = self.workflow.persistence.metadata(IOFile(path))
        return found if found is not None and found.rule else None

    def runs(self, job: Any) -> bool:
        return bool(self.workflow.dag.needrun(job))


def explain(file: str, study: str | None = None) -> str:
    """Return a text for people about a file of the checkout in the present folder.

    Parameters
    ----------
    file : str
        Made by a study or still to be made. Files of a report and logs of jobs are explained by the file that their job
        declares.
    study : str, optional
        Study file; default: ``config.yaml``.

    Raises
    ------
    DataError
        A folder, a file that mklearn did not make, or a file that does not exist and is not planned.
    ConfigError
        A study with mistakes, or no checkout in the present folder.
    """
    path = os.path.relpath(file)
    if Path(path).is_dir():
        raise DataError(f"{file}: is a folder; name a file in it.")
    made = _made_with(path) or path
    plan = dry_run(made, study)
    stamp = read_stamp(Path(made)) if Path(made).is_file() else None
    if plan.job is None and stamp is None:
        why = "is not made by mklearn: it carries no stamp" if Path(path).exists() else "there is no such file"
        raise DataError(f"{path}: {why}, and study file {plan.source} plans none of that name.")
    lines = [path, f"  written with {made}"] if made != path else [path]
    if plan.job is None:
        lines += _leftover(made, stamp or {}, plan, study)
    else:
        lines += [*_planned(made, stamp, plan), *_verdict(made, stamp, plan, study)]
    return "\n".join(lines) + "\n"


def _made_with(path: str) -> str | None:
    """Return the declared output of the job that wrote a file beside it: a figure, a provenance.json, a log."""
    place = Path(path)
    beside = stamp_beside(place) or (place if place.name.endswith("provenance.json") and place.is_file() else None)
    if beside is not None:
        made_with = load_json(beside).get("made_with", "")
        return os.path.relpath(beside.parent / made_with) if made_with else None
    if place.suffix == ".log" and place.is_file():
        with place.open(encoding="utf-8", errors="replace") as stream, contextlib.suppress(ValueError):
            words = shlex.split(stream.readline())  # ValueError: the first line is no command
            return next((b.partition("=")[2] for a, b in itertools.pairwise(words) if a == "--out"), None)
    return None


# --- Snakemake's plan


def dry_run(path: str, study: str | None = None) -> DryRun:
    """Plan one file, as ``snakemake --dry-run PATH`` does.

    Raises
    ------
    ConfigError
        No Snakefile here, a study with mistakes, or a plan that Snakemake can't make.
    """
    if not Path("Snakefile").is_file():
        raise ConfigError(f"{Path.cwd()} has no Snakefile: run this in the folder of the checkout.")
    if study is not None and not Path(study).is_file():
        raise ConfigError(f"--study: there is no file {study!r}.")
    from snakemake.exceptions import WorkflowError

    printed = io.StringIO()
    try:
        with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
            return _dry_run(path, study)
    except SystemExit:  # the study has mistakes, which were printed
        mistakes = printed.getvalue().rpartition("mklearn: ")[2].replace("\nNothing was run.", "").strip()
        raise ConfigError(mistakes or "the study can't be planned; `snakemake --dry-run` says why.") from None
    except WorkflowError as error:
        raise ConfigError(f"{path}: Snakemake can't plan it: {' '.join(str(error).split())}") from None


def _dry_run(path: str, study: str | None) -> DryRun:
    from snakemake.api import SnakemakeApi
    from snakemake.cli import parse_args
    from snakemake.exceptions import InputFunctionException, MissingRuleException
    from snakemake.settings import types

    _, options = parse_args(["--dry-run"])  # for the profile
    quiet = {types.Quietness.RULES, types.Quietness.PROGRESS}  # with both, a dry run ends when its plan is made
    with SnakemakeApi(types.OutputSettings(dryrun=True, quiet=quiet, enable_file_logging=False)) as api:
        planner = api.workflow(
            resource_settings=types.ResourceSettings(cores=1),
            config_settings=types.ConfigSettings(configfiles=[Path(study)] if study else []),
            deployment_settings=types.DeploymentSettings(deployment_method=options.software_deployment_method),
        )
        dag_settings = types.DAGSettings(
            targets={path}, rerun_triggers=options.rerun_triggers, force_incomplete=options.rerun_incomplete,
            max_checksum_file_size=options.max_checksum_file_size,
        )  # fmt: skip
        workflow = planner._workflow
        job = None
        # Raised where no rule makes the file, or one whose names match and whose combination the study does not have.
        with contextlib.suppress(MissingRuleException, InputFunctionException):
            planner.dag(dag_settings).execute_workflow(
                executor="dryrun", execution_settings=types.ExecutionSettings(lock=False)
            )
            job = next((job for job in workflow.dag.jobs if path in job.output), None)
        return DryRun(", ".join(os.path.relpath(file) for file in workflow.configfiles), workflow, job)


def _step(job: Any) -> str:
    return {"describe_part": "describe"}.get(job.rule.name, str(job.rule.name))


def _spec(job: Any) -> dict[str, Any]:
    return dict(job.params.get("spec") or {})


def _code(job: Any) -> list[str]:
    return step_code(_step(job), _spec(job))


def _inputs(job: Any) -> dict[str, list[str]]:
    return {name: [str(files)] if isinstance(files, str) else list(files) for name, files in job.input.items()}


def _differences(job: Any, stamp: Stamp | None) -> list[str]:
    """Return what differs; an edit of the code counts where the rule has it as a parameter."""
    found = differences(stamp, _spec(job), _code(job) if job.params.get("code") else None) if stamp else []
    states = input_states(_inputs(job), stamp)
    return found + [f"input {name} ({path}) {state}" for name, path, _, state in states if state.startswith("has")]


# --- a file that the study plans


def _planned(path: str, stamp: Stamp | None, plan: DryRun) -> list[str]:
    job = plan.job
    log = next(iter(job.log), "")
    made_by = f"rule {job.rule.name} of {plan.source}, function {_step(job)} of mklearn.steps.{_step(job)}"
    spec, names = stamp["spec"] if stamp else _spec(job), list(code_digests(_code(job)))
    then, now = (stamp or {}).get("code", ""), code_fingerprint(_code(job))
    inputs = sorted(input_states(_inputs(job), stamp), key=lambda entry: entry[3] in ("as it was", "is there"))
    shown = [f"{name}: {file}  {digest[:12]}  {state}" for name, file, digest, state in inputs[:LINES_SHOWN]]
    more = Counter(state for *_, state in inputs[LINES_SHOWN:])
    files = {name: paths if len(paths) != 1 else paths[0] for name, paths in _inputs(job).items()}
    return [
        f"  {job.message or ''}",
        "",
        f"  made by  {made_by}",
        f"  made at  {_when(path, plan)}",
        f"  log      {log}{'' if not log or Path(log).is_file() else ' (not there)'}",
        f"  version  mklearn {stamp.get('mklearn', '?')}" if stamp else "",
        *_section("Specification" if stamp else "Specification (as planned)", yaml_text(spec) if spec else "none"),
        *_section("Inputs (with the first digits of their sha256)", *shown,
                  *(f"and {count} more: {state}" for state, count in more.items())),
        *_section(
            f"Code ({f'fingerprint {then} then, {now} now' if then else f'fingerprint {now}'}; {len(names)} files of "
            f"src/mklearn{'' if job.params.get('code') else '; an edit of it makes nothing again'})",
            textwrap.fill(", ".join(names), 110, break_on_hyphens=False),
        ),
        *_section("Replay", command(_step(job), files, dict(job.output.items()), _spec(job), job.threads)),
    ]  # fmt: skip


def _section(title: str, *texts: str) -> list[str]:
    return ["", title, *(textwrap.indent(text.rstrip(), "  ") for text in texts)]


def _when(path: str, plan: DryRun) -> str:
    if not Path(path).is_file():
        return "not yet"
    record, note = plan.record(path), " (Snakemake has no record of it: copied, or made by hand)"
    seconds = Path(path).stat().st_mtime
    if record is not None and record.endtime:
        seconds, note = record.endtime, f", in {record.endtime - record.starttime:.1f} s" if record.starttime else ""
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC") + note


def _verdict(path: str, stamp: Stamp | None, plan: DryRun, study: str | None) -> list[str]:
    call = " ".join(["snakemake --cores all", *([f"--configfile {study}"] if study else []), path])
    if not plan.runs(plan.job):
        lines = ["", "UP TO DATE: a run would not make it again."]
        if unseen := _differences(plan.job, stamp):
            why = "it goes by modification times" if plan.record(path) else "it has no record of how the file was made"
            lines += [f"  But Snakemake does not see everything ({why}):", *(f"  - {text}" for text in unseen)]
            lines += [f"  To have it made again, delete it: rm {shlex.quote(path)}"]
        return lines
    before = [job for job in plan.workflow.dag.jobs if job is not plan.job and plan.runs(job)]
    first = ", ".join(f"{n} {rule}" for rule, n in sorted(Counter(job.rule.name for job in before).items()))
    after = f", after other jobs ({first})" if first else ""
    lines = ["", f"MISSING: `{call}` would make it{after}."]
    if Path(path).exists():
        because = reasons(plan.job, plan)
        lines = ["", f"WOULD BE MADE AGAIN by `{call}`{after}, because", *(f"  - {text}" for text in because)]
    roots = [job for job in before if not _only_follows(plan.workflow.dag.reason(job))]
    lines += [
        f"  First {job.rule.name} makes {job.output[0]}: {'; '.join(reasons(job, plan))}" for job in roots[:LINES_SHOWN]
    ]
    return lines + [f"  and {len(roots) - LINES_SHOWN} more"] * (len(roots) > LINES_SHOWN)


def _only_follows(why: Any) -> bool:
    """Return whether a job runs for no other reason than that its inputs are made again."""
    own = why.missing_output or why.updated_input - why.updated_input_run or why.incomplete_output or why.forced
    return bool(why.updated_input_run) and not (own or why.is_provenance_triggered())


def reasons(job: Any, plan: DryRun) -> list[str]:
    """Return why Snakemake would run a job, in the order in which a reader wants to know."""
    why, path = plan.workflow.dag.reason(job), str(job.output[0])
    names = {file: name for name, files in _inputs(job).items() for file in files}
    found = [f"{file} does not exist" for file in sorted(map(str, why.missing_output))]
    if why.incomplete_output:
        found.append("the job that was to make it did not end well: it is at work now, or was interrupted")
    found += _differences(job, read_stamp(Path(path)) if Path(path).is_file() else None)
    told = " ".join(found)
    newer = sorted(map(str, why.updated_input - why.updated_input_run))
    found += [f"input {names.get(file, '')} ({file}) is newer" for file in newer if f"({file})" not in told]
    if why.input_changed and (record := plan.record(path)) is not None:
        gone, new = sorted({*record.input} - {*names}), sorted({*names} - {*record.input})
        found += [f"it has another input now: {enumerated(new)}"] if new else []
        found += [f"an input is no longer planned: {enumerated(gone)}"] if gone else []
    if why.software_stack_changed:
        found.append("the software environment of its rule has changed")
    remade = sorted(map(str, why.updated_input_run))
    found += [f"input {names.get(file, '')} ({file}) is made again first" for file in remade[:SHOWN]]
    found += [f"{len(remade) - SHOWN} more of its inputs are made again first"] * (len(remade) > SHOWN)
    return found or [f"Snakemake says: {why}"]


# --- a file that it does not plan


def _leftover(path: str, stamp: Stamp, plan: DryRun, study: str | None) -> list[str]:
    record = plan.record(path)
    lines = [
        "",
        f"  made at  {_when(path, plan)}",
        f"  version  mklearn {stamp.get('mklearn', '?')}",
        *(f"  log      {log}" for log in (record.log if record else None) or []),
        *_section("Specification", yaml_text(stamp["spec"])),
        *_section("Inputs", yaml_text(stamp["inputs"])),
        *_section(f"Code (fingerprint {stamp['code']})"),
        "",
        f"NOT PLANNED by {plan.source}: made with an older parameter, or by another study.",
    ]
    other = study_of(path)
    if other not in ("", plan.source):
        return [*lines, f"  It is of another study: explain it with --study {other}"]
    now = _successor(path, plan, study)
    if now is not None:
        lines.append(f"  Planned in its place is {now.output[0]}:")
        lines += [f"  - {text}" for text in differences(stamp, _spec(now), _code(now))]
    return [*lines, "  No file of this study needs it: it can be deleted, unless another study is to use it."]


def study_of(path: str) -> str:
    """Return the study file that a file in results/STUDY/ comes from, by the record of its run."""
    records = (folder / "run.json" for folder in Path(path).parents)
    record = next((record for record in records if record.is_file()), None)
    return str(load_json(record).get("source", "")) if record else ""


def _successor(path: str, plan: DryRun, study: str | None) -> Any:
    """Return the job of the planned file that has the same name and another specification."""
    targets = plan.workflow.globals["targets"]
    same = [name for name in targets.files() if KEY.sub("", name) == KEY.sub("", path)]
    return dry_run(same[0], study).job if len(same) == 1 else None

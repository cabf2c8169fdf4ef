"""``python -m mklearn explain FILE``: where a file came from, and why a run would or would not make it again.

Where it came from is in the file's stamp. What a run would do is Snakemake's own plan, made by a dry run in this
process with the settings of the profile.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mklearn.errors import ConfigError, DataError
from mklearn.extras import require
from mklearn.study.config.yaml_file import read_yaml, yaml_text
from mklearn.study.engine.workflow_files import DEFAULT_STUDY, study_file, workflow_file
from mklearn.study.provenance import canonical, code_digests, step_code
from mklearn.study.stages.order import ARTEFACTS, STAGES
from mklearn.study.stages.targets import read_last
from mklearn.study.stamps import load_beside, read_stamp, stamp_beside
from mklearn.study.steps.runner import command

RECORD = Path(ARTEFACTS["run_record"]).name
SHOWN = 8
"""Entries of a list that are shown; the others are counted."""
Stamp = dict[str, Any]


def explain(file: str, study: str | None = None) -> str:
    """Return a text for people about a file of the present folder.

    Parameters
    ----------
    file : str
        Made by a study or still to be made. Files of a report and logs of jobs are explained by the file that their job
        declares.
    study : str, optional
        Study file, or name of a study of mklearn; default: the one whose run has made the file, else ``config.yaml``.

    Raises
    ------
    DataError
        A folder, a file that mklearn did not make, or a file that does not exist and is not planned.
    ConfigError
        No such study, or one with mistakes.
    """
    path = os.path.relpath(file or ".")
    if Path(path).is_dir():
        raise DataError(f"{file}: is a folder; name a file in it.")
    made = _made_with(path) or path
    workflow, job, study = _planned_by([study] if study is not None else _studies(made), made)
    source = ", ".join(os.path.relpath(name) for name in workflow.configfiles)
    stamp = _stamp(made)
    lines = [path, f"  written with {made}"] if made != path else [path]
    if job is not None:
        lines += [*_planned(job, source), *_made(made, stamp), *_replay(job), *_verdict(made, job, workflow.dag, study)]
    elif stamp is not None:
        lines += [*_made(made, stamp), "", f"NOT PLANNED by {source}: of an older parameter, or of another study."]
    else:
        why = "is not made by mklearn: it carries no stamp" if Path(path).exists() else "there is no such file"
        raise DataError(f"{path}: {why}, and study file {source} plans none of that name.")
    return "\n".join(lines) + "\n"


def _studies(path: str) -> list[str | None]:
    """Return the studies that a file may be of: that of its folder's run; else the default one, and all that were run.

    None is the default study.
    """
    own = [folder / RECORD for folder in Path(path).parents if (folder / RECORD).is_file()]
    if own:
        return _sources(own[:1]) or [None]
    found = _sources(sorted(record for folder in Path(path).parents for record in folder.glob(f"*/{RECORD}")))
    return list(dict.fromkeys([None, *found]))


def _sources(records: Iterable[Path]) -> list[str | None]:
    """Return the study files, as far as they are there, that records of runs name."""
    named = [str(json.loads(record.read_text(encoding="utf-8")).get("source", "")) for record in records]
    return [None if source == DEFAULT_STUDY else source for source in named if Path(source).is_file()]


def _planned_by(studies: Sequence[str | None], path: str) -> tuple[Any, Any, str | None]:
    """Return the workflow of the first study that plans a file, the file's job and the study; no job if none plans it.

    A mistake in one of several studies is no reason not to ask the others.
    """
    found: list[tuple[Any, Any, str | None]] = []
    for study in studies:
        try:
            found.append((*dry_run(path, study), study))
        except ConfigError:
            if len(studies) == 1:
                raise
        else:
            if found[-1][1] is not None:
                return found[-1]
    return found[0] if found else (*dry_run(path, studies[0]), studies[0])


def _stamp(path: str) -> Stamp | None:
    return read_stamp(Path(path)) if Path(path).is_file() else None


def _made_with(path: str) -> str | None:
    """Return the declared output of the job that wrote a file beside it: a figure, a provenance.json, a log."""
    place = Path(path)
    beside = stamp_beside(place) or (place if place.name.endswith("provenance.json") and place.is_file() else None)
    if beside is not None:
        made_with = load_beside(beside).get("made_with", "")
        return os.path.relpath(beside.parent / made_with) if made_with else None
    if place.suffix == ".log" and place.is_file():
        with place.open(encoding="utf-8", errors="replace") as stream, contextlib.suppress(ValueError):
            words = shlex.split(stream.readline())  # ValueError: the first line is no command
            return next((b.partition("=")[2] for a, b in itertools.pairwise(words) if a == "--out"), None)
    return None


# --- Snakemake's plan


def dry_run(path: str, study: str | None = None) -> tuple[Any, Any]:
    """Plan one file, as ``snakemake --dry-run PATH`` does; return the workflow and the file's job, None if not planned.

    Raises
    ------
    ConfigError
        No such study, one with mistakes, or a plan that Snakemake can't make.
    """
    workflow, problem = planned_run({path}, study)
    if problem and os.path.isabs(workflow.globals["targets"].plan.study.results):
        path = os.path.abspath(path)
        workflow, problem = planned_run({path}, study)
    return workflow, None if problem else next((job for job in workflow.dag.jobs if path in job.output), None)


def planned_run(targets: Set[str], study: str | None = None) -> tuple[Any, str]:
    """Plan files or rules, all of a study if there are none; return the workflow, and what can't be planned if any.

    Raises
    ------
    ConfigError
        No such study, one with mistakes, or a plan that Snakemake can't make.
    """
    if study is not None or not Path(DEFAULT_STUDY).is_file():
        study = str(study_file(study))
        read_yaml(study)  # of a file that is no YAML, Snakemake would raise errors of many kinds
    require("snakemake")
    from snakemake.exceptions import InputFunctionException, MissingRuleException, WorkflowError

    printed = io.StringIO()
    try:
        with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
            _dry_run(targets, study)
    except SystemExit:  # the study has mistakes, which were printed
        mistakes = printed.getvalue().rpartition("mklearn: ")[2].replace("\nNothing was run.", "").strip()
        raise ConfigError(mistakes or "the study can't be planned; `snakemake --dry-run` says why.") from None
    except (MissingRuleException, InputFunctionException) as error:
        # No rule makes a file, or one whose names match and whose combination the study does not have.
        return read_last[0], " ".join(str(error).split())
    except WorkflowError as error:
        what = ", ".join(sorted(targets)) or "the study"
        raise ConfigError(f"{what}: Snakemake can't plan it: {' '.join(str(error).split())}") from None
    return read_last[0], ""


def _dry_run(targets: Set[str], study: str | None) -> None:
    from snakemake.api import SnakemakeApi
    from snakemake.cli import parse_args
    from snakemake.settings import types

    snakefile = workflow_file("Snakefile")
    _, options = parse_args(["--dry-run", "--snakefile", str(snakefile)])  # for the profile
    quiet = {types.Quietness.RULES, types.Quietness.PROGRESS}  # with both, a dry run ends when its plan is made
    with SnakemakeApi(types.OutputSettings(dryrun=True, quiet=quiet, enable_file_logging=False)) as api:
        planner = api.workflow(
            resource_settings=types.ResourceSettings(cores=1),
            config_settings=types.ConfigSettings(configfiles=[Path(study)] if study else []),
            deployment_settings=types.DeploymentSettings(deployment_method=options.software_deployment_method),
            snakefile=snakefile,
        )
        dag_settings = types.DAGSettings(
            targets=set(targets), rerun_triggers=options.rerun_triggers, force_incomplete=options.rerun_incomplete,
            max_checksum_file_size=options.max_checksum_file_size,
        )  # fmt: skip
        planner.dag(dag_settings).execute_workflow(
            executor="dryrun", execution_settings=types.ExecutionSettings(lock=False)
        )


def _step(job: Any) -> str:
    return STAGES[job.rule.name].step


def _spec(job: Any) -> dict[str, Any]:
    return dict(job.params.get("spec") or {})


# --- where a file came from


def _planned(job: Any, source: str) -> list[str]:
    log = next(iter(job.log), "")
    return [
        f"  {job.message or ''}",
        "",
        f"  made by  rule {job.rule.name} of {source}, function {_step(job)} of mklearn.study.steps.{_step(job)}",
        f"  log      {log}{'' if not log or Path(log).is_file() else ' (not there)'}",
    ]


def _made(path: str, stamp: Stamp | None) -> list[str]:
    if stamp is None:
        return []
    time = datetime.fromtimestamp(Path(path).stat().st_mtime, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return [
        f"  made at  {time}, by mklearn {stamp.get('mklearn', '?')}",
        *_section("Specification", yaml_text(stamp["spec"])),
        *_section("Inputs (sha256)", _enumerated(yaml_text(stamp["inputs"]).splitlines(), "\n")),
        *_section(
            f"Code (fingerprint {stamp['code']})",
            textwrap.fill(", ".join(stamp.get("modules", ())), 110, break_on_hyphens=False),
        ),
    ]


def _replay(job: Any) -> list[str]:
    files = {name: paths if isinstance(paths, str) else list(paths) for name, paths in job.input.items()}
    return _section("Replay", command(_step(job), files, dict(job.output.items()), _spec(job), job.threads))


def _section(title: str, text: str) -> list[str]:
    return ["", title, textwrap.indent(text.rstrip(), "  ")]


# --- what a run would do with it


def _verdict(path: str, job: Any, dag: Any, study: str | None) -> list[str]:
    if not dag.needrun(job):
        lines = ["", "UP TO DATE: a run would not make it again."]
        if unseen := changes(job):
            lines += ["  But Snakemake has no record of these changes:", *(f"  - {text}" for text in unseen)]
            lines += [f"  To have it made again, delete it: rm {shlex.quote(path)}"]
        return lines
    before = [other for other in dag.jobs if other is not job and dag.needrun(other)]
    first = ", ".join(f"{n} {rule}" for rule, n in sorted(Counter(other.rule.name for other in before).items()))
    call = " ".join(["mklearn run", *([study] if study else []), "--", path])
    after = f", after other jobs ({first})" if first else ""
    if Path(path).exists():
        lines = ["", f"WOULD BE MADE AGAIN by `{call}`{after}, because"]
        lines += [f"  - {text}" for text in reasons(job, dag)]
    else:
        lines = ["", f"MISSING: `{call}` would make it{after}."]
    roots = [other for other in before if not any(dag.needrun(needed) for needed in dag.dependencies[other])]
    for root in roots[:SHOWN]:
        lines.append(f"  First {root.rule.name} makes {root.output[0]}: {'; '.join(reasons(root, dag))}")
    return lines + [f"  and {len(roots) - SHOWN} more"] * (len(roots) > SHOWN)


def reasons(job: Any, dag: Any) -> list[str]:
    """Return why Snakemake would run a job, in the order in which a reader wants to know."""
    why = dag.reason(job)
    files = {
        "missing": why.missing_output,
        "not finished (its job is at work now, or was interrupted)": why.incomplete_output,
        "newer inputs": why.updated_input - why.updated_input_run,
        "inputs that are made again first": why.updated_input_run,
    }
    found = changes(job)
    found += [f"{what}: {_enumerated(sorted(map(str, paths)))}" for what, paths in files.items() if paths]
    found += ["its list of inputs has changed"] * bool(why.input_changed)
    found += ["the software environment of its rule has changed"] * bool(why.software_stack_changed)
    return found or [f"Snakemake says: {why}"]


def changes(job: Any) -> list[str]:
    """Return what differs between a file's stamp and the plan; edits count where the rule has code as a parameter."""
    stamp = _stamp(str(job.output[0]))
    if stamp is None:
        return []
    keys = spec_changes(stamp["spec"], _spec(job))
    code = code_changes(stamp, step_code(_step(job), _spec(job))) if job.params.get("code") else []
    found = [f"its specification has changed: {_enumerated(keys, '; ')}"] if keys else []
    return found + ([f"its code has changed: {_enumerated(code)}"] if code else [])


def spec_changes(then: Any, now: Any, key: str = "") -> list[str]:
    """Return ``method.parameters.ridge: 0.01 -> 0.001`` for each key that differs."""
    if isinstance(then, dict) and isinstance(now, dict):
        found = []
        for name in dict.fromkeys([*then, *now]):
            inner = f"{key}.{name}".lstrip(".")
            if name not in now:
                found.append(f"{inner}: removed (was {_short(then[name])})")
            elif name not in then:
                found.append(f"{inner}: added: {_short(now[name])}")
            else:
                found += spec_changes(then[name], now[name], inner)
        return found
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = zip(then, now, strict=True)
        return [text for i, (a, b) in enumerate(pairs) for text in spec_changes(a, b, f"{key}[{i}]")]
    return [] if canonical(then) == canonical(now) else [f"{key}: {_short(then)} -> {_short(now)}"]


def code_changes(stamp: Stamp, code: Sequence[str]) -> list[str]:
    """Return the source files whose content is not what it was when the file was made."""
    then = stamp.get("modules", {})
    now = code_digests(code) if then else {}
    changed = [name for name in now if name in then and now[name] != then[name]]
    added = [f"{name} (new)" for name in now if name not in then]
    return [*changed, *added, *(f"{name} (no longer used)" for name in then if name not in now)]


def _short(value: Any, limit: int = 60) -> str:
    text = value if isinstance(value, str) and value else canonical(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def _enumerated(items: Sequence[str], separator: str = ", ") -> str:
    """Join the first items, and count the others."""
    more = f"{separator}and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return separator.join(items[:SHOWN]) + more

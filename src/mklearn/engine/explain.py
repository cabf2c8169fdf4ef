"""``python -m mklearn explain FILE``: where a file came from, and why a run would or would not make it again."""

from __future__ import annotations

import os
import re
import shlex
import textwrap
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mklearn.engine.explain_job import Answer, Job, Record, ask_snakemake
from mklearn.engine.explain_reasons import differences, input_states, other_content, sentences
from mklearn.errors import DataError
from mklearn.provenance import code_digests, code_fingerprint
from mklearn.stamps import load_json, read_stamp, stamp_beside
from mklearn.steps.runner import command
from mklearn.study.schema import yaml_text

WIDTH = 110
INPUTS_SHOWN = 16
KEY = re.compile(r"-[0-9a-f]{8}(?=[/.]|$)")
"""What a specification adds to a name."""


def explain(file: str, study: str | None = None) -> str:
    """A text for people about a file of the present checkout.

    Parameters
    ----------
    file : str
        Made by a study or still to be made; files of a report and logs of jobs are explained by what they belong to.
    study : str, optional
        Study file; the default one without it.

    Raises
    ------
    DataError
        A folder, a file of another kind, or no such file and nothing that would make it.
    ConfigError
        A study with mistakes, or no checkout in the present folder.
    """
    path = os.path.relpath(file)
    if Path(path).is_dir():
        raise DataError(f"{file}: is a folder; name a file in it.")
    written_by = _made_with(path)
    answer = ask_snakemake(written_by or path, study)
    if answer.job is not None:
        return _planned(path, answer, answer.job, study)
    stamp = read_stamp(Path(path)) if Path(path).is_file() else None
    if stamp is None:
        raise DataError(_stranger(path, answer))
    return _left_over(path, stamp, answer, study)


def _made_with(path: str) -> str | None:
    """The declared output of the job that wrote a file on the side: of a report, a provenance.json, a log."""
    place = Path(path)
    beside = stamp_beside(place) or (place if place.name.endswith("provenance.json") and place.is_file() else None)
    if beside is not None:
        made_with = load_json(beside).get("made_with", "")
        return os.path.relpath(beside.parent / made_with) if made_with else None
    if place.suffix == ".log" and place.is_file():
        with place.open(encoding="utf-8", errors="replace") as stream:
            words = _words(stream.readline())
        outputs = [words[i + 1].partition("=")[2] for i, word in enumerate(words[:-1]) if word == "--out"]
        return outputs[0] if outputs else None
    return None


def _words(line: str) -> list[str]:
    """Of a command; none of a line that is no command, such as the first of somebody else's log."""
    try:
        return shlex.split(line)
    except ValueError:
        return []


# --- a file that the study plans


def _planned(path: str, answer: Answer, job: Job, study: str | None) -> str:
    made = path if path in job.outputs.values() else next(iter(job.outputs.values()))
    there = Path(made).is_file()
    stamp = read_stamp(Path(made)) if there else None
    record = job.records.get(made)
    lines = [path, f"  {job.message}"]
    if made != path:
        lines.append(f"  written with {made}")
    lines += ["", *_facts(made, answer, job, stamp, record)]
    lines += _specification(job.spec if stamp is None else stamp["spec"], "as planned" if stamp is None else "")
    lines += _inputs(job, stamp)
    lines += _code(job, stamp)
    lines += ["Replay", f"  {command(job.step, _files(job), job.outputs, job.spec, job.threads)}", ""]
    return "\n".join([*lines, *_verdict(made, answer, job, stamp, record, study)]) + "\n"


def _facts(path: str, answer: Answer, job: Job, stamp: Any, record: Record | None) -> list[str]:
    log = next(iter(job.log), "")
    rule = f"rule {job.rule} of {answer.source}, function {job.step} of mklearn.steps.{job.step}"
    facts = {"made by": rule, "made at": _when(path, record),
             "log": log + ("" if not log or Path(log).is_file() else " (not there)")}  # fmt: skip
    if stamp:
        facts["version"] = f"mklearn {stamp.get('mklearn', '?')}"
    return [*(f"  {name:9}{value}" for name, value in facts.items() if value), ""]


def _when(path: str, record: Record | None) -> str:
    if record is not None and record.ended:
        took = f", in {record.ended - record.started:.1f} s" if 0 < record.started <= record.ended else ""
        return _time(record.ended) + took
    if Path(path).is_file():
        return f"{_time(Path(path).stat().st_mtime)} (Snakemake has no record of it: copied, or made by hand)"
    return ""


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _specification(spec: dict[str, Any], note: str) -> list[str]:
    text = yaml_text(spec).rstrip() if spec else "none"
    return [f"Specification{f' ({note})' if note else ''}", textwrap.indent(text, "  "), ""]


def _inputs(job: Job, stamp: Any) -> list[str]:
    found = list(input_states(job, stamp))
    if not found:
        return ["Inputs", "  none", ""]
    # Those that differ first, where there are too many to show.
    shown = sorted(found, key=lambda entry: entry[3] in ("as it was", "is there"))[:INPUTS_SHOWN]
    lines = [f"  {name}: {path}  {digest[:12]}{'  ' if digest else ''}{state}" for name, path, digest, state in shown]
    more = Counter(state for *_, state in found[len(shown) :])
    lines += [f"  and {count} more: {state}" for state, count in more.items()]
    return ["Inputs (with the first digits of their sha256)", *lines, ""]


def _code(job: Job, stamp: Any) -> list[str]:
    then, now = (stamp or {}).get("code", ""), code_fingerprint(job.code)
    compared = f"fingerprint {then} then, {now} now" if then else f"fingerprint {now}"
    names = list(code_digests(job.code))
    note = "" if job.follows_code else "; an edit of it makes nothing again"
    text = textwrap.fill(", ".join(names), WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return [f"Code ({compared}; {len(names)} files of src/mklearn{note})", text, ""]


def _files(job: Job) -> dict[str, Any]:
    return {name: files if len(files) != 1 else files[0] for name, files in job.inputs.items()}


def _verdict(
    path: str, answer: Answer, job: Job, stamp: Any, record: Record | None, study: str | None
) -> list[str]:  # fmt: skip
    call = " ".join(["snakemake --cores all", *([f"--configfile {study}"] if study else []), path])
    if not job.runs:
        return ["UP TO DATE: a run would not make it again.", *_unseen(path, job, stamp, record)]
    first = sorted(Counter(other.rule for other in answer.before).items())
    jobs = ", ".join(f"{count} {rule}" for rule, count in first)
    after = f", after other jobs ({jobs})" if first else ""
    if not Path(path).exists():
        head = f"MISSING: `{call}` would make it{after}."
    else:
        head = f"WOULD BE MADE AGAIN by `{call}`{after}, because"
    own = sentences(job, stamp, record)
    lines = [head, *(f"  - {text}" for text in own)] if Path(path).exists() else [head]
    roots = [other for other in answer.before if not _only_remade(other)]
    for other in roots[:INPUTS_SHOWN]:
        output = next(iter(other.outputs.values()))
        there = read_stamp(Path(output)) if Path(output).is_file() else None
        why = "; ".join(sentences(other, there, other.records.get(output)))
        lines.append(f"  First {other.rule} makes {output}: {why}")
    lines += [f"  and {len(roots) - INPUTS_SHOWN} more"] * (len(roots) > INPUTS_SHOWN)
    return lines


def _only_remade(job: Job) -> bool:
    why = job.reasons
    own = (why.missing, why.newer, why.interrupted, why.inputs_differ, why.parameters_differ, why.environment_differs)
    return bool(why.remade) and not any(own)


def _unseen(path: str, job: Job, stamp: Any, record: Record | None) -> list[str]:
    """What differs although Snakemake runs nothing: it has no record of the file, or goes by times."""
    found = [*differences(job, stamp, record), *other_content(job, stamp)]
    if not found:
        return []
    why = "it goes by modification times" if record else "it has no record of how the file was made"
    return [
        f"  But Snakemake does not see everything ({why}):", *(f"  - {text}" for text in found),
        f"  To have it made again, delete it: rm {shlex.quote(path)}",
    ]  # fmt: skip


# --- files that it does not plan


def _stranger(path: str, answer: Answer) -> str:
    if not Path(path).exists():
        return f"{path}: there is no such file, and study file {answer.source} plans none of that name."
    return f"{path}: is not made by mklearn: it carries no stamp, and study file {answer.source} plans no such file."


def _left_over(path: str, stamp: dict[str, Any], answer: Answer, study: str | None) -> str:
    lines = [path, "", f"  made at  {_when(path, answer.record)}", f"  version  mklearn {stamp.get('mklearn', '?')}"]
    if answer.record is not None and answer.record.log:
        lines.append(f"  log      {answer.record.log[0]}")
    inputs = textwrap.indent(yaml_text(stamp["inputs"]).rstrip(), "  ")
    lines += ["", *_specification(stamp["spec"], ""), "Inputs", inputs, "", f"Code (fingerprint {stamp['code']})", ""]
    lines.append(f"NOT PLANNED by {answer.source}: made with an older parameter, or by another study.")
    other = _study_of(path)
    if other not in ("", answer.source):
        lines.append(f"  It is of another study: explain it with --study {other}")
        return "\n".join(lines) + "\n"
    now = _successor(path, answer.source, study)
    if now is not None and now.job is not None:
        output = next(iter(now.job.outputs.values()))
        lines.append(f"  Planned in its place is {output}:")
        lines += [f"  - {text}" for text in differences(now.job, stamp, None)]
    lines.append("  No file of this study needs it: it can be deleted, unless another study is to use it.")
    return "\n".join(lines) + "\n"


def _study_of(path: str) -> str:
    """The study file that a file in results/STUDY/ comes from, by the record of its run."""
    for folder in Path(path).parents:
        record = folder / "run.json"
        if record.is_file():
            return str(load_json(record).get("source", ""))
    return ""


def _successor(path: str, source: str, study: str | None) -> Answer | None:
    """The planned file of the same name whose specification is the present one."""
    from mklearn.study.expansion.plan import plan_study
    from mklearn.study.reading import read_study
    from mklearn.study.targets import Targets

    if not Path(source).is_file():
        return None
    targets = Targets(plan_study(read_study(source)))
    same = [name for name in targets.files() if KEY.sub("", name) == KEY.sub("", path)]
    return ask_snakemake(same[0], study) if len(same) == 1 else None

"""Why a file would or would not be made again, as sentences: what differs between then and now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mklearn.atomic import read_npz
from mklearn.engine.explain_job import Job, Record
from mklearn.errors import DataError
from mklearn.provenance import canonical, code_digests, file_digest, names_below

SHOWN = 8
"""Files or keys that a sentence names; the others are counted."""


def spec_differences(then: Any, now: Any, key: str = "") -> list[str]:
    """``method.parameters.ridge: 0.01 -> 0.001`` for each key that differs."""
    if isinstance(then, dict) and isinstance(now, dict):
        found = []
        for name in dict.fromkeys([*then, *now]):
            inner = f"{key}.{name}".lstrip(".")
            if name not in now:
                found.append(f"{inner}: was {_short(then[name])}, is there no more")
            elif name not in then:
                found.append(f"{inner}: was not there, is {_short(now[name])}")
            else:
                found += spec_differences(then[name], now[name], inner)
        return found
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [text for i, (a, b) in enumerate(zip(then, now, strict=True))
                for text in spec_differences(a, b, f"{key}[{i}]")]  # fmt: skip
    return [] if _same(then, now) else [f"{key}: {_short(then)} -> {_short(now)}"]


def _same(one: Any, other: Any) -> bool:
    return canonical(one) == canonical(other)


def _short(value: Any, limit: int = 60) -> str:
    text = value if isinstance(value, str) and value else canonical(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def code_differences(job: Job, stamp: dict[str, Any] | None) -> list[str]:
    """Source files behind a job whose content is not what it was when the file was made."""
    was = (stamp or {}).get("modules", {})
    now = code_digests(job.code) if was else {}
    changed = [name for name in now if name in was and now[name] != was[name]]
    added = [f"{name} (new)" for name in now if name not in was]
    gone = [f"{name} (no longer used)" for name in was if name not in now]
    return [*changed, *added, *gone]


def input_states(job: Job, stamp: dict[str, Any] | None) -> Iterator[tuple[str, str, str, str]]:
    """(name, path, digest then, how it compares now) of each input."""
    recorded = (stamp or {}).get("inputs", {})
    for name, paths in job.inputs.items():
        digests = _digests(recorded.get(name), paths)
        for path in paths:
            digest = digests.get(path, "")
            yield name, path, digest, _state(Path(path), digest)


def _digests(recorded: Any, paths: list[str]) -> dict[str, str]:
    if isinstance(recorded, str) and len(paths) == 1:
        return {paths[0]: recorded}
    if not isinstance(recorded, dict) or not all(isinstance(value, str) for value in recorded.values()):
        return {}
    named = {short: str(path) for short, path in names_below(paths).items()}
    if set(named) == set(recorded):
        return {path: recorded[short] for short, path in named.items()}
    return dict(zip(paths, recorded.values(), strict=True)) if len(recorded) == len(paths) else {}


def _state(path: Path, digest: str) -> str:
    if not path.exists():
        return "is not there"
    if not digest:
        return "is there"
    same = digest in (file_digest(path), _content_digest(path))
    return "as it was" if same else "has other content now"


def _content_digest(path: Path) -> str:
    """Of the numbers in a matrix or descriptor, which is what kernel sets and fits go by."""
    try:
        return str(read_npz(path, ("sha256",))["sha256"]) if path.suffix == ".npz" else ""
    except DataError:
        return ""


def differences(job: Job, stamp: dict[str, Any] | None, record: Record | None) -> list[str]:
    """What differs between the file and what the study plans now, whether Snakemake minds or not."""
    found = []
    then = stamp["spec"] if stamp else record.spec if record else None
    if then is not None:
        keys = spec_differences(then, job.spec)
        found += [f"its specification differs: {_enumerated(keys, '; ')}"] * bool(keys)
    changed = code_differences(job, stamp) if job.follows_code else []
    return [*found, *[f"its code has changed: {_enumerated(changed)}"] * bool(changed)]


def other_content(job: Job, stamp: dict[str, Any] | None) -> list[str]:
    """Sentences about inputs whose content is not what the stamp says."""
    return [
        f"input {name} ({path}) {state}" for name, path, _, state in input_states(job, stamp) if state.startswith("has")
    ]


def sentences(job: Job, stamp: dict[str, Any] | None, record: Record | None) -> list[str]:
    """Why Snakemake would run a job, in the order in which a reader wants to know."""
    why = job.reasons
    found = [f"{path} does not exist" for path in why.missing]
    if why.interrupted:
        found.append("a job that was to make it has not ended: it is at work now, or was interrupted")
    found += differences(job, stamp, record)
    content = other_content(job, stamp)
    for path in why.newer:
        if not any(f"({path})" in text for text in content):
            found.append(f"input {_name(job, path)} ({path}) is newer")
    found += content
    if why.inputs_differ and record is not None:
        gone, new = sorted(set(record.inputs) - set(_files(job))), sorted(set(_files(job)) - set(record.inputs))
        found += [f"it has another input now: {_enumerated(new)}"] * bool(new)
        found += [f"an input is no longer planned: {_enumerated(gone)}"] * bool(gone)
    if why.environment_differs:
        found.append("the software environment of its rule has changed")
    found += [f"input {_name(job, path)} ({path}) is made again first" for path in why.remade[:SHOWN]]
    if len(why.remade) > SHOWN:
        found.append(f"{len(why.remade) - SHOWN} more of its inputs are made again first")
    return found or [f"Snakemake says: {why.other or 'Params have changed since last execution'}"]


def _files(job: Job) -> list[str]:
    return [path for paths in job.inputs.values() for path in paths]


def _name(job: Job, path: str) -> str:
    return next((name for name, paths in job.inputs.items() if path in paths), "")


def _enumerated(items: list[str], separator: str = ", ") -> str:
    more = f"{separator}and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return separator.join(items[:SHOWN]) + more

"""What differs between the stamp of a file and what the study plans now, as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mklearn.atomic import read_npz
from mklearn.errors import DataError
from mklearn.provenance import canonical, code_digests, file_digest, names_below

SHOWN = 8
"""Files or keys that a sentence names; the others are counted."""
Stamp = Mapping[str, Any]


def spec_differences(then: Any, now: Any, key: str = "") -> list[str]:
    """Return ``method.parameters.ridge: 0.01 -> 0.001`` for each key that differs."""
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
        pairs = zip(then, now, strict=True)
        return [text for i, (a, b) in enumerate(pairs) for text in spec_differences(a, b, f"{key}[{i}]")]
    return [] if canonical(then) == canonical(now) else [f"{key}: {_short(then)} -> {_short(now)}"]


def _short(value: Any, limit: int = 60) -> str:
    text = value if isinstance(value, str) and value else canonical(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def code_differences(stamp: Stamp, code: Sequence[str]) -> list[str]:
    """Return the source files whose content is not what it was when the file was made."""
    then = stamp.get("modules", {})
    now = code_digests(code) if then else {}
    changed = [name for name in now if name in then and now[name] != then[name]]
    added = [f"{name} (new)" for name in now if name not in then]
    return [*changed, *added, *(f"{name} (no longer used)" for name in then if name not in now)]


def differences(stamp: Stamp, spec: Mapping[str, Any], code: Sequence[str] | None) -> list[str]:
    """Return a sentence for another specification and one for other code; without ``code``, edits do not count."""
    keys = spec_differences(stamp["spec"], dict(spec))
    files = [] if code is None else code_differences(stamp, code)
    found = [f"its specification differs: {enumerated(keys, '; ')}"] if keys else []
    return found + ([f"its code has changed: {enumerated(files)}"] if files else [])


def enumerated(items: Sequence[str], separator: str = ", ") -> str:
    """Join the first items, and count the others."""
    more = f"{separator}and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return separator.join(items[:SHOWN]) + more


def input_states(inputs: Mapping[str, list[str]], stamp: Stamp | None) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, path, digest in the stamp (or "") and state of each input of a job."""
    for name, paths in inputs.items():
        recorded = (stamp or {}).get("inputs", {}).get(name, {})
        digests = {paths[0]: recorded} if isinstance(recorded, str) and paths else _by_path(recorded, paths)
        for path in paths:
            digest = digests.get(path, "")
            yield name, path, digest, _state(Path(path), digest)


def _by_path(recorded: Any, paths: list[str]) -> dict[str, str]:
    """Return the digests of several files of one input, which the stamp names by the end of their paths."""
    if len(recorded) != len(paths) or not all(isinstance(digest, str) for digest in recorded.values()):
        return {}
    named = {short: str(path) for short, path in names_below(paths).items()} if paths else {}
    # A kernel set names its matrices by kernel, in the order of the files.
    order = [named[short] for short in recorded] if set(named) == set(recorded) else paths
    return dict(zip(order, recorded.values(), strict=True))


def _state(path: Path, digest: str) -> str:
    if not path.exists():
        return "is not there"
    if not digest:
        return "is there"
    return "as it was" if digest in (file_digest(path), _content_digest(path)) else "has other content now"


def _content_digest(path: Path) -> str:
    """Return the digest of the numbers in a matrix or descriptor, which is what kernel sets and fits record."""
    try:
        return str(read_npz(path, ("sha256",))["sha256"]) if path.suffix == ".npz" else ""
    except DataError:
        return ""

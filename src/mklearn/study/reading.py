"""Reading and checking of a study file, with all mistakes reported at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mklearn.errors import ConfigError
from mklearn.study.data.protocols import PROTOCOLS
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.mistakes import Mistake, listed, mistakes_of, show
from mklearn.study.parameters import parameter_mistakes
from mklearn.study.references import broken_references, normalised, valid_part
from mklearn.study.specs.fit_spec import CLUSTERS
from mklearn.study.study import Study
from mklearn.study.yaml_file import from_folder, read_yaml


def read_study(path: str | Path, *, parameters: bool = False) -> Study:
    """Read and check a study file, with paths relative to the file; see :func:`read_yaml` and :func:`check_study`."""
    return check_study(from_folder(read_yaml(path), Path(path).parent), source=str(path), parameters=parameters)


def check_study(raw: Any, source: str = "config", *, parameters: bool = False) -> Study:
    """Make a study from plain objects, and check it.

    With ``parameters``, or if the study has other mistakes, the parameters of methods, kernels, descriptors and
    protocols are checked too, which imports the implementations. Raise ConfigError with a line for each mistake: dotted
    path, value, expectation, nearest valid key.
    """
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{source}: a study is a mapping of keys to values; found {show(raw)}.")
    raw = {"null" if key is None else key: value for key, value in raw.items()}  # YAML reads the key null as None
    try:
        study = Study.model_validate(raw)
    except ValidationError as error:
        entries = normalised(raw)
        part, lacking = valid_part(entries, error)
        mistakes = mistakes_of(error, Study, entries)
        if part is not None:
            mistakes += [*broken_references(part, lacking), *parameter_mistakes(part)]
    else:
        mistakes = [
            *broken_references(study),
            *_published_mistakes(study),
            *_misread_numbers(raw, study.model_dump()),
            *target_mistakes(study),
            *_clustering_mistakes(study),
        ]
        if mistakes or parameters:
            mistakes += parameter_mistakes(study)
    if mistakes:
        raise ConfigError(listed(f"{source} has", sorted(set(mistakes))))
    return study


def check_parameters(study: Study, source: str) -> None:
    """Raise ConfigError with all parameters that the implementations of a study reject."""
    if mistakes := sorted(set(parameter_mistakes(study))):
        raise ConfigError(listed(f"{source} has", mistakes))


def _misread_numbers(written: Any, read: Any, path: str = "") -> Iterator[Mistake]:
    """Yield mistakes for booleans that a model would read as 1 or 0, and for integers too large for an array."""
    if isinstance(written, Mapping) and isinstance(read, Mapping):
        for key in written.keys() & read.keys():
            yield from _misread_numbers(written[key], read[key], f"{path}.{key}".lstrip("."))
    elif isinstance(written, list) and isinstance(read, list | tuple):
        for number, pair in enumerate(zip(written, read, strict=False)):
            yield from _misread_numbers(*pair, f"{path}[{number}]")
    elif isinstance(written, bool) and isinstance(read, int | float) and not isinstance(read, bool):
        yield Mistake(path, f"invalid value {written}: expected a number; YAML reads yes, no, on, off as booleans.")
    elif isinstance(read, int) and not isinstance(read, bool) and abs(read) >= 2**63:
        yield Mistake(path, f"invalid value {show(written)}: expected an integer of 64 bits.")


def _published_mistakes(study: Study) -> Iterator[Mistake]:
    reported, first = study.evaluation.metrics, dict[tuple[Any, ...], int]()
    for number, entry in enumerate(study.published):
        if entry.metric not in reported:
            text = f"{entry.metric!r} is not among evaluation.metrics: {', '.join(reported)}."
            yield Mistake(f"published[{number}].metric", text)
        for cell in entry.cells():
            key = tuple(cell[name] for name in ("dataset", "train_size", "method", "protocol", "neighbour", "metric"))
            if key in first:
                size = "" if cell["train_size"] is None else f", training size {cell['train_size']}"
                text = f"{cell['dataset']}{size}, {cell['method']} has a value already, in published[{first[key]}]."
                yield Mistake(f"published[{number}]", text)
            first.setdefault(key, number)


_ADVICE = {
    "classes": "set `task: classes`, or ",
    "numbers": "name the column of numbers as `target`, or ",
    "survival": "name the columns as `target: {time: COLUMN, event: COLUMN}`, or ",
}
"""Advice on the target for a method, by the kind of target that it predicts."""


def _clustering_mistakes(study: Study) -> Iterator[Mistake]:
    clustering = [key for key, protocol in study.protocols.items() if protocol.row.clusters]
    if clustering and study.evaluation.neighbours != [CLUSTERS]:
        text = f"expected [{CLUSTERS}] with protocol {clustering[0]!r}, which tests the training samples."
        yield Mistake("evaluation.neighbours", text)


def target_mistakes(study: Study) -> Iterator[Mistake]:
    """Yield mistakes for data sets, methods, protocols and metrics of the other kind of target."""
    kinds = {key: config.task_of_target for key, config in study.datasets.items()}
    kind = next(iter(kinds.values()))
    for key, other in kinds.items():
        if other != kind:
            text = f"its target is {other}, that of {next(iter(kinds))!r} is {kind}; give each kind a study of its own."
            yield Mistake(f"datasets.{key}", text)
    for key, method in study.methods.items():
        if kind not in method.row.targets:
            made, advice = " or ".join(method.row.targets), "" if kind == "survival" else _ADVICE[method.row.targets[0]]
            text = f"{method.row.title} predicts {made}, and the target is {kind}: {advice}name a method for {kind}."
            yield Mistake(f"methods.{key}", text)
        elif kind != "classes" and method.kernel_choice() == "cv_accuracy":
            text = f"cv_accuracy weights by accuracy, and the target is {kind}."
            yield Mistake(f"methods.{key}.kernel_weights", text)
    for key, protocol in study.protocols.items():
        if kind not in protocol.row.targets:
            valid = ", ".join(name for name, row in PROTOCOLS.items() if kind in row.targets)
            text = f"{protocol.row.title} needs classes, and the target is {kind}; valid: {valid}."
            yield Mistake(f"protocols.{key}", text)
        if kind != "classes" and protocol.exclude_classes:
            yield Mistake(f"protocols.{key}.exclude_classes", f"the target is {kind}: there are no classes.")
    for metric in map(metric_named, study.evaluation.metrics):
        if kind not in metric.targets:
            text = f"metric {metric.kind!r} takes {' or '.join(metric.targets)}, and the target is {kind}."
            yield Mistake("evaluation.metrics", text)

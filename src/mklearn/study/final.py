"""The model that a study ends with: which data set, protocol and methods it can be of, and mistakes in ``final``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mklearn.study.datasets import Precomputed
from mklearn.study.method import Method
from mklearn.study.mistakes import Mistake, one_of
from mklearn.study.specs.fit_spec import RULE
from mklearn.study.study import Study


def final_dataset(study: Study) -> str:
    """Return the name of the data set; of several, one is named."""
    assert study.final is not None
    return study.final.dataset or next(iter(study.datasets))


def final_protocol(study: Study) -> str | None:
    """Return the name of the protocol; None if the study has none that can say what is expected.

    The first one that holds whole groups out, if there is any: of a study that has one, new samples are of new groups.
    """
    suited = [name for name, reason in _protocols(study).items() if not reason]
    return next((name for name in suited if study.protocols[name].row.holds_groups), next(iter(suited), None))


def _protocols(study: Study) -> dict[str, str]:
    """Return why each protocol can't say what is expected; empty if it can."""
    assert study.final is not None
    dataset, reasons = final_dataset(study), {}
    for name in [study.final.protocol] if study.final.protocol else study.protocols:
        protocol, reasons[name] = study.protocols[name], ""
        if not protocol.applies_to(dataset):
            reasons[name] = f"is not used on data set {dataset!r}"
        elif protocol.row.composes:
            reasons[name] = "has samples that are composed of several"
        elif protocol.choose == "test_set":
            reasons[name] = "chooses parameters on test samples"
    return reasons


def unsuited(method: Method, neighbours: Sequence[str]) -> str:
    """Return why a method can't be a model that predicts; empty if it can."""
    if not method.implementation.startswith("mklearn."):
        return "is of another package, whose classes a model file can't hold"
    if not method.row.in_model_files:
        return "holds trees, which a model file can't: they would be read without a check"
    if len(method.inputs) > 1:
        return f"takes several inputs ({', '.join(method.inputs)}), and a model takes views only"
    if method.row.embeds and RULE not in neighbours:
        return "predicts by Euclidean distance, which the study does not evaluate: add it to `evaluation.neighbours`"
    return ""


def final_mistakes(study: Study, entries: Mapping[str, str]) -> Iterator[Mistake]:
    """Find what can't be made; ``entries`` are the methods by their names in tables.

    Names that refer to nothing are found elsewhere.
    """
    final, datasets, methods, evaluation = study.final, study.datasets, study.methods, study.evaluation
    assert final is not None
    if final.metric not in evaluation.metrics:
        yield Mistake(
            "final.metric", f"{final.metric!r} is not among evaluation.metrics: {one_of(evaluation.metrics)}."
        )
    if final.dataset is None and len(datasets) > 1:
        yield Mistake("final.dataset", f"is needed, as there are several: {one_of(datasets)}.")
        return
    dataset = final_dataset(study)
    if dataset not in datasets or (final.protocol and final.protocol not in study.protocols):
        return
    if isinstance(datasets[dataset], Precomputed):
        text = f"{dataset!r} has matrices among its samples only; a model needs images or tables of features."
        yield Mistake("final.dataset", text)
    if final_protocol(study) is None:
        reasons = "; ".join(f"{name} {reason}" for name, reason in _protocols(study).items())
        yield Mistake("final.protocol", f"no protocol can say what is expected of single samples: {reasons}.")
    chosen = entries.get(final.method)
    if chosen is not None and (reason := unsuited(methods[chosen], evaluation.neighbours)):
        others = [name for name, method in methods.items() if not unsuited(method, evaluation.neighbours)]
        valid = f"valid: best, {one_of(others)}" if others else "the study has no other"
        yield Mistake("final.method", f"{final.method!r} {reason}; {valid}.")
    if chosen is not None and not methods[chosen].applies_to(dataset):
        yield Mistake("final.method", f"{final.method!r} is not used on data set {dataset!r}.")

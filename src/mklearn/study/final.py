"""The section ``final`` of a study: one method on all samples, as a model that predicts; and its mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mklearn.contract.final_spec import BEST
from mklearn.contract.method import Classifier, Method
from mklearn.contract.model import Slug, Strict
from mklearn.study.datasets import DatasetConfig, Precomputed
from mklearn.study.mistakes import Mistake, one_of
from mklearn.study.protocols import Protocol

EUCLIDEAN = "euclidean"
"""The nearest-neighbour rule of the library, and so of models."""


class Final(Strict):
    """The model that a study ends with: a method, refitted on all labelled samples."""

    method: Slug = BEST
    """A method of the study, or ``best``: the one with the highest mean of the metric, of those that choose nothing on
    test samples."""
    metric: str = "accuracy"
    """One of the study's metrics: what is expected of the model, and what ``best`` means."""
    dataset: Slug | None = None
    """The data set; needed if the study has several."""
    protocol: Slug | None = None
    """The protocol whose splits say what is expected, at its largest training size; by default the first one of the
    study that can."""

    def dataset_of(self, datasets: Mapping[str, DatasetConfig]) -> str:
        """Return the name of the data set."""
        return self.dataset or next(iter(datasets))

    def protocol_of(self, protocols: Mapping[str, Protocol], dataset: str) -> str | None:
        """Return the name of the protocol; None if the study has none that can say what is expected."""
        named = [self.protocol] if self.protocol else list(protocols)
        return next((name for name in named if not _unsuited_protocol(protocols[name], dataset)), None)


def unsuited(method: Method, neighbours: list[str]) -> str:
    """Return why a method can't be a model that predicts; empty if it can."""
    if not method.implementation.startswith("mklearn."):
        return "is of another package, whose classes a model file can't hold"
    if len(method.inputs) > 1:
        return (
            f"takes several inputs ({', '.join(method.inputs)}), and a model takes views only; in Python it can be "
            "fitted to views, where the rows of the average kernel gate, and saved by mklearn.saved_models"
        )
    if getattr(method, "kernel_weights", None) == "oracle_single":
        return "chooses its kernel on test samples"
    if not isinstance(method, Classifier) and EUCLIDEAN not in neighbours:
        return "predicts by Euclidean distance, which the study does not evaluate: add it to `evaluation.neighbours`"
    return ""


def final_mistakes(
    final: Final,
    datasets: Mapping[str, DatasetConfig],
    methods: Mapping[str, Method],
    protocols: Mapping[str, Protocol],
    metrics: list[str],
    neighbours: list[str],
    entries: Mapping[str, str],
) -> Iterator[Mistake]:
    """Find what can't be made; ``entries`` are the methods by their names in tables.

    Names that refer to nothing are found elsewhere.
    """
    if final.metric not in metrics:
        yield Mistake("final.metric", f"{final.metric!r} is not among evaluation.metrics: {', '.join(metrics)}.")
    if final.dataset is None and len(datasets) > 1:
        yield Mistake("final.dataset", f"is needed, as there are several: {one_of(datasets)}.")
        return
    dataset = final.dataset_of(datasets)
    if dataset not in datasets or (final.protocol and final.protocol not in protocols):
        return
    if isinstance(datasets[dataset], Precomputed):
        yield Mistake(
            "final.dataset",
            f"{dataset!r} has matrices among its samples only, from which no kernel of a new sample follows; a model "
            "needs images or tables of features.",
        )
    if final.protocol_of(protocols, dataset) is None:
        names = [final.protocol] if final.protocol else list(protocols)
        reasons = "; ".join(f"{name} {_unsuited_protocol(protocols[name], dataset)}" for name in names)
        yield Mistake("final.protocol", f"no protocol can say what is expected of single samples: {reasons}.")
    chosen = entries.get(final.method)
    if chosen is not None and (reason := unsuited(methods[chosen], neighbours)):
        others = [name for name, method in methods.items() if not unsuited(method, neighbours)]
        valid = f"valid: best, {one_of(others)}" if others else "the study has no other"
        yield Mistake("final.method", f"{final.method!r} {reason}; {valid}.")
    if chosen is not None and not methods[chosen].applies_to(dataset):
        yield Mistake("final.method", f"{final.method!r} is not used on data set {dataset!r}.")


def _unsuited_protocol(protocol: Protocol, dataset: str) -> str:
    if not protocol.applies_to(dataset):
        return f"is not used on data set {dataset!r}"
    if protocol.pair_features() is not None:
        return "verifies pairs of samples"
    return "chooses parameters on test samples" if protocol.choose == "test_set" else ""

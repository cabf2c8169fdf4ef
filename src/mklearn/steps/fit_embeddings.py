"""Step: evaluate a method on landmarks by the embeddings of all blocks, as step ``fit`` evaluates one on kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.artefacts import read_table
from mklearn.contract.fit_spec import FitSpec
from mklearn.datasets.splits import Split, Splits
from mklearn.errors import DataError
from mklearn.evaluation.inputs import Inputs
from mklearn.evaluation.landmarks import Solved, outcome_of
from mklearn.evaluation.split import Fitted, SplitResult, rule_result
from mklearn.evaluation.sweeps import sweep_of
from mklearn.provenance import code_fingerprint, input_digests, stamp
from mklearn.steps.fit import supervised_records, write_fit
from mklearn.steps.fit_records import FitAtSize, guarded
from mklearn.steps.log import progress
from mklearn.steps.solve import Solution, read_solution
from mklearn.supervisor import SplitAborted

SHOWN = 3000
"""Samples in the figure of an embedding, at most."""


def fit_embeddings(
    solution: Path, blocks: list[Path], labels: Path, splits: Path, scores: Path, model: Path, predictions: Path, *,
    spec: FitSpec, code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Write the score rows of a method, its predictions and what a report shows of the fits, as step ``fit`` does.

    Parameters
    ----------
    solution : Path
    blocks : list of Path
        The embeddings of all samples, in blocks.
    labels, splits : Path
    scores, model, predictions : Path
        Written.
    spec : FitSpec
    code : list of Path
        Source files behind the step.

    Raises
    ------
    DataError
        A sample of a split is in no block, or in two.
    """
    table, _ = read_table(labels)
    y, ids = table["y"].to_numpy(), table["id"].to_numpy(dtype=str)
    drawn = Splits.load(splits, ids)
    solved, embedded = read_solution(solution), _Embedded(blocks)
    fingerprint = code_fingerprint(code or [])
    sizes = []
    for setting in spec.settings:
        own = drawn.of_size(setting.train_size)
        numbers = [drawn.splits.index(split) for split in own]
        chosen = {split: (number, solved[number]) for split, number in zip(own, numbers, strict=True)}
        sizes.append(EmbeddedFit(Inputs({}), spec, setting, y, own, fingerprint, solved=chosen, embedded=embedded))
    inputs = input_digests(solution=solution, blocks=blocks, labels=labels, splits=splits)
    found = [(size, supervised_records(size, None)) for size in sizes]
    write_fit(found, spec, y, ids, stamp(spec.as_dict(), inputs, code or []), scores, model, predictions)


class _Embedded:
    """The embeddings of all blocks, by split and estimator."""

    def __init__(self, blocks: Sequence[Path]) -> None:
        self._where = blocks[0].parent
        tables = [read_table(path)[0] for path in progress(blocks, len(blocks), "embeddings: block")]
        self._none = tables[0].iloc[:0]
        self._tables = dict(list(pd.concat(tables, ignore_index=True).groupby(["split", "estimator"])))

    def of(self, split: int, estimator: int, rows: NDArray[np.intp], width: int) -> tuple[NDArray[np.float64], float]:
        """Return the embeddings (b, width) of samples, and the seconds that those of all samples took."""
        table = self._tables.get((split, estimator), self._none)
        samples = table["sample"].to_numpy()
        order = np.argsort(samples, kind="stable")
        places = np.searchsorted(samples[order], rows)
        known = places < len(order)
        known[known] = samples[order[places[known]]] == rows[known]
        if not known.all() or len(np.unique(samples)) < len(samples):
            what = "two blocks" if known.all() else "no block"
            raise DataError(f"{self._where}: a sample is in {what}; delete the folder and run again.")
        columns = [f"z{k}" for k in range(width)]
        seconds = float(table.drop_duplicates("seconds")["seconds"].sum())
        return table[columns].to_numpy(dtype=np.float64)[order[places]], seconds


@dataclass(frozen=True)
class EmbeddedFit(FitAtSize):
    """A method at one training size, whose estimators and embeddings are known.

    Parameters
    ----------
    solved : dict of Split to (number, Solution)
        The number of each split among all, and its solution.
    embedded : the embeddings
    """

    solved: Mapping[Split, tuple[int, Solution]] = field(default_factory=dict)
    embedded: _Embedded | None = None

    def _results(self) -> Iterator[tuple[Split, SplitResult | Exception]]:
        for split in progress(self.splits, len(self.splits), f"{self.spec.method.id}: split"):
            number, solution = self.solved[split]
            if solution.solved is None:
                yield split, SplitAborted(solution.status, solution.message)
            else:
                solved, seconds = solution.solved, solution.pass_seconds
                yield split, guarded(split.name, lambda: self._evaluated(split, number, solved, seconds))  # noqa: B023

    def _evaluated(self, split: Split, number: int, solved: Solved, pass_seconds: float) -> SplitResult:
        assert self.embedded is not None
        sweep = sweep_of(self.spec.method)
        result = SplitResult()
        y_train, y_test = self.y[split.train], self.y[split.test]
        fitted: dict[int, Fitted] = {}
        for rule, position in solved.by_rule.items():
            estimator, candidate = solved.estimators[position], solved.chosen[position]
            if position not in fitted:
                width = estimator.coefficients_.shape[1]
                known, seconds = self.embedded.of(number, position, split.train, width)
                asked, _ = self.embedded.of(number, position, split.test, width)
                fit_seconds = pass_seconds + solved.fit_seconds[position]
                outcome = outcome_of(estimator, known, asked, sweep, fit_seconds, seconds)
                fitted[position] = Fitted(outcome, estimator.kernel_weights_, [], fit_seconds, seconds)
            result.rules[rule] = rule_result(
                fitted[position], candidate, -1, rule, y_train, y_test, self.spec.evaluation
            )  # fmt: skip
        return result

    def _embedding(self, fitted: Fitted, split: Split) -> dict[str, NDArray[Any]]:
        """Return two dimensions of at most 3,000 samples, evenly spaced."""
        found = super()._embedding(fitted, split)
        step = -(-len(found.get("embedding_y", ())) // SHOWN)
        return {name: array[:: max(1, step)] for name, array in found.items()}

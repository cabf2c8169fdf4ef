"""Evaluation of a method on the splits of one training size, with a record of each split."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mklearn.base.pipelines import last_step
from mklearn.errors import NotApplicable
from mklearn.study.data.splits import Split, numbered_test_parts
from mklearn.study.evaluation.candidates import MethodOnViews, choices, method_of
from mklearn.study.evaluation.fitted import Fitted
from mklearn.study.evaluation.outputs import SplitRecord
from mklearn.study.evaluation.split import EXPECTED, Choice, Parts, RuleResult, SplitResult, choose_once, evaluate_split
from mklearn.study.log import logged_warnings, logger, progress
from mklearn.study.provenance import canonical
from mklearn.study.specs.fit_spec import FeatureScaling, FitSpec, Setting, headline_rule
from mklearn.study.supervisor import SplitAborted, out_of_memory, supervised

Value = TypeVar("Value")
SPLIT = ("repeat", "fold", "n_train", "n_test", "n_validation", "test_part")
"""Names of the facts that identify a split and give its sizes; every record of a fit has them."""
SHOWN = 3000
"""Maximum number of samples in the figure of an embedding."""


@dataclass(frozen=True)
class FitAtSize:
    """A method at one training size of a protocol, evaluated on one split after the other."""

    problem: MethodOnViews
    spec: FitSpec
    setting: Setting
    """Protocol and training size, one of the settings of ``spec``."""
    splits: Sequence[Split]
    """Splits of this training size."""
    choosing: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
    """Training and validation samples for a single choice of parameters for all splits; None: choose on each split."""

    @cached_property
    def _test_parts(self) -> dict[tuple[int | None, int, int], int]:
        return numbered_test_parts(self.splits)

    def supervised_records(self, *, here: bool = False) -> list[SplitRecord]:
        """Return the record of each split, including splits lost to a crash, lack of memory or the time limit.

        With ``here``, splits are evaluated in this process, where a debugger can stop, and without a time limit.
        """
        done: list[SplitRecord] = []
        try:
            for record in self.records() if here else supervised(self.records(), self.spec.evaluation.time_limit):
                done.append(record)
        except SplitAborted as reason:
            rest = self.splits[len(done) :]
            logger.warning("%s: %d splits without a value: %s", self.setting.protocol, len(rest), reason)
            done += [self._failed(split, reason) for split in rest]
        return done

    def records(self) -> Iterator[SplitRecord]:
        """Yield the record of each split, in order."""
        size = f", training size {self.setting.train_size}" if self.setting.train_size else ""
        splits = progress(self.splits, len(self.splits), f"{self.spec.method.id}{size}: split")
        for_all: Choice | Exception | None = None
        if self.choosing is not None:
            for_all = self._choose("choice of parameters", [self.choosing], groups=None)
        # Models of one draw share a test part; any other split is a group by itself.
        draws = itertools.groupby(
            splits, lambda split: (split.repeat, split.fold if split.validation is None else split.test.tobytes())
        )
        for _, draw in draws:
            models, shared = list(draw), for_all
            parts = [(split.train, split.validation) for split in models if split.validation is not None]
            if parts and for_all is None and self.spec.evaluation.choice != "test_set":
                shared = self._choose(models[0].name, parts)
            for split in models:
                if isinstance(shared, Exception):
                    yield self._failed(split, shared)
                    continue
                record = guarded(split.name, partial(self._record, split, shared))
                yield self._failed(split, record) if isinstance(record, Exception) else record

    def _choose(self, name: str, parts: Parts, **changes: Any) -> Choice | Exception:
        problem = replace(self.problem, **changes)
        return guarded(name, lambda: choose_once(problem, parts, evaluation=self.spec.evaluation))

    def _record(self, split: Split, choice: Choice | None) -> SplitRecord:
        result = self._result(split, choice)
        rules = {
            name: rule.predictions.without_estimators(_facts_of(rule, result.scalings))
            for name, rule in result.rules.items()
        }
        facts = self._facts(split) | {"selection_message": result.selection_message}
        return SplitRecord(facts, split.train, split.test, rules, self._shown(result, split))

    def _result(self, split: Split, choice: Choice | None) -> SplitResult:
        problem = replace(self.problem, y=split.target(self.problem.y), unlabelled=split.unlabelled)
        return evaluate_split(
            problem, split.train, split.test, evaluation=self.spec.evaluation, seed=self.spec.seed, choice=choice
        )

    def _facts(self, split: Split) -> dict[str, Any]:
        part = self._test_parts[split.train_size, split.repeat, split.fold]
        sizes = (0 if rows is None else len(rows) for rows in (split.train, split.test, split.validation))
        return dict(zip(SPLIT, (split.repeat, split.fold, *sizes, part), strict=True))

    def _failed(self, split: Split, reason: Exception) -> SplitRecord:
        status = "not_applicable" if isinstance(reason, NotApplicable) else getattr(reason, "status", "failed")
        return SplitRecord(self._facts(split) | {"status": status, "message": " ".join(str(reason).split())})

    def _shown(self, result: SplitResult, split: Split) -> dict[str, Any]:
        """Return what the report shows of a fit, such as kernel weights, by the headline's nearest-neighbour rule."""
        rule = result.rules.get("") or result.rules[headline_rule(self.spec.evaluation.neighbours)]
        estimator, place = method_of(rule.estimator), {"repeat": split.repeat, "fold": split.fold}
        history = [
            place | {"half_step": number, "step": entry["step"], "value": entry["objective"],
                     "optimum": entry.get("optimum")}
            for number, entry in enumerate(getattr(estimator, "history_", []))
        ]  # fmt: skip
        candidate, components, position = rule.candidate, rule.predictions.components, rule.predictions.position
        if position is not None and components and self.spec.evaluation.components != "all":
            candidate = replace(candidate, parameters=candidate.parameters | {"n_components": components[position]})
        chosen = choices(replace(self.problem, scalings=result.scalings), candidate, rule.estimator)
        return {
            "weights": rule.fitted.weights, "kernel_info": rule.fitted.kernel_info,
            "history": history, "chosen": [place | row for row in chosen],
            "diagnostics": [place | entry for entry in getattr(estimator, "diagnostics_", [])],
            "embedding": self._embedding(rule.fitted, split) if rule.fitted.embeddings else {},
        }  # fmt: skip

    def _embedding(self, fitted: Fitted, split: Split) -> dict[str, NDArray[Any]]:
        """Return the first two components of training and test samples, evenly thinned; a missing one is 0."""
        train, test = (np.pad(each[:, :2], ((0, 0), (0, 2)))[:, :2] for each in fitted.embeddings[-1])
        every = slice(None, None, -(-(len(train) + len(test)) // SHOWN))
        return {
            "embedding": np.concatenate([train, test])[every].astype(np.float32),
            "embedding_y": self.problem.y[np.concatenate([split.train, split.test])[every]],
            "embedding_test": np.repeat([False, True], [len(split.train), len(split.test)])[every],
        }


def _facts_of(rule: RuleResult, scalings: Mapping[str, FeatureScaling]) -> dict[str, Any]:
    """Return columns of the score rows: chosen parameters, solver status and time."""
    estimator, last = method_of(rule.estimator), last_step(rule.estimator)
    certificate = getattr(estimator, "certificate_", None) or {}
    chosen = rule.candidate.parameters | ({"feature_scaling": dict(scalings)} if scalings else {})
    return {
        "parameters": canonical(chosen),
        "n_iter": getattr(estimator, "n_iter_", None),
        "objective": getattr(estimator, "objective_", np.nan),
        "gap": certificate.get("gap", np.nan),
        "solver": str(certificate.get("solver", "")),
        "status": "inaccurate" if getattr(last, "status_", "") == "inaccurate" else "ok",
        "message": _message(last),
        "fit_seconds": rule.fitted.fit_seconds,
    }


def guarded(name: str, evaluate: Callable[[], Value]) -> Value | Exception:
    """Return the result of a function, or the expected exception that it raised; log warnings and failures."""
    result: Value | Exception
    with logged_warnings(name):
        try:
            result = evaluate()
        except EXPECTED as reason:
            result = reason
        except MemoryError as reason:
            result = out_of_memory(reason)
        if isinstance(result, Exception):
            result.__traceback__ = result.__cause__ = result.__context__ = None  # they refer to the split's arrays
            logger.warning("%s: %s: %s", name, type(result).__name__, result)
    return result


def _message(estimator: Any) -> str:
    """Return the estimator's own message, or the number of beta-steps with mixed signs, which have no solution."""
    if getattr(estimator, "message_", ""):
        return str(estimator.message_)
    steps = [entry for entry in getattr(estimator, "history_", []) if "mixed_sign" in entry]
    mixed = sum(bool(entry["mixed_sign"]) for entry in steps)
    if not mixed or estimator.get_params().get("beta_step") not in ("sdp", "central_path"):
        return ""
    return f"mixed signs in {mixed} of {len(steps)} beta-steps: the optimal weights are 0, these are a solver's path"

"""Step: one method at every training size and repeat of one protocol."""

from __future__ import annotations

import json
import resource
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import read_npz, read_parquet, write_npz, write_parquet
from mklearn.contract.loading import load
from mklearn.datasets.samples import SampleSet
from mklearn.datasets.splits import Split, Splits
from mklearn.errors import DataError, NotApplicable
from mklearn.evaluation.inputs import KernelInput, MethodInput, SampleInput
from mklearn.evaluation.iterations import accuracy_by_iteration
from mklearn.evaluation.oracle import best_on_test
from mklearn.evaluation.split import EXPECTED, RuleResult, SplitResult, evaluate_split
from mklearn.provenance import canonical, code_fingerprint, input_digests, stamp
from mklearn.steps.log import logger, progress
from mklearn.steps.rows import COLUMNS, blank, fit_of
from mklearn.steps.time_limit import TimeLimit, TimeLimitReached


def fit(
    labels: Path, splits: Path, scores: Path, model: Path, *, spec: dict[str, Any], manifest: Path | None = None,
    matrices: list[Path] | None = None, source: Path | None = None, code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Fit ``spec["method"]`` on every split; write its score rows and what a report shows of the fits.

    A failure that is a result (a solver without solution, a method that does not apply, an allocation that is refused,
    the study's limit of time) becomes a row with its reason; splits that were done before it keep their values. Each of
    ``spec["settings"]``, the training sizes, has a time limit of its own, and its own arrays in the file of the model:
    ``weights`` of ``faces-p2`` is ``faces-p2/weights``.
    """
    samples = _samples(spec, manifest, matrices or [], source)
    table, _ = read_parquet(labels)
    y = table["y"].to_numpy()
    drawn = Splits.load(splits, table["id"].to_numpy(dtype=str))
    fingerprint = code_fingerprint(code or [])
    rows: list[dict[str, Any]] = []
    arrays: dict[str, Any] = {}
    for setting in spec["settings"]:
        limit = TimeLimit(spec["evaluation"].get("time_limit"))
        fits: list[tuple[Split, SplitResult]] = []
        for split, result in _results(samples, spec, y, drawn.of_size(setting["train_size"]), limit):
            sizes = len(split.train), len(split.test)
            common = blank(fit_of(spec, setting), split.repeat, split.fold, *sizes) | {"code": fingerprint}
            if isinstance(result, SplitResult):
                rows += _rows(result, common)
                rows += _iteration_rows(samples, spec, y, split, common, limit)
                fits.append((split, result))
            else:
                rows.append(common | _failure(result))
        arrays |= {f"{setting['protocol']}/{name}": array for name, array in _model(fits, spec, y).items()}
    digests = input_digests(manifest=manifest, source=source, labels=labels, splits=splits)  # matrices: the manifest's
    record = stamp(spec, digests, code or [])
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    write_parquet(scores, frame, record)
    write_npz(model, **arrays, spec=canonical(spec), provenance=canonical(record))


def _matrices(paths: list[Path], content: dict[str, Any]) -> dict[str, np.ndarray]:
    found = {}
    for name, path in zip(content["matrices"], paths, strict=True):
        held = read_npz(path, ("matrix", "sha256"))
        if str(held["sha256"]) != content["matrices"][name]["sha256"]:
            raise DataError(f"{path}: is not the matrix that the manifest names; delete the manifest and run again.")
        found[name] = held["matrix"]
    return found


def _samples(spec: dict[str, Any], manifest: Path | None, matrices: list[Path], source: Path | None) -> MethodInput:
    """What the method takes: kernels, features or images."""
    if manifest is not None:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        return KernelInput(_matrices(matrices, content), spec["kernels"])
    if source is None:
        raise DataError("step fit: needs a manifest and matrices (kernels), or a source (features or images).")
    if spec["method"]["input"] == "features":
        return SampleInput(read_npz(source, ("features",))["features"])
    images = SampleSet.load(source).images
    if not isinstance(images, np.ndarray) or images.ndim != 3:
        raise DataError(f"{source}: {spec['method']['id']} takes grey images of one size; resize them.")
    return SampleInput(images.astype(np.float64))


class Ended(Exception):
    """A split without a value because the time or the memory that there was did not do; nothing is said of the method.

    Parameters
    ----------
    status, message : str
        Of its row.
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


def _failure(reason: Exception) -> dict[str, str]:
    """Status and message of a split that has no value."""
    status = "not_applicable" if isinstance(reason, NotApplicable) else getattr(reason, "status", "failed")
    return {"status": status, "message": " ".join(str(reason).split())}


def _results(
    samples: MethodInput, spec: dict[str, Any], y: np.ndarray, drawn: list[Split], limit: TimeLimit
) -> Iterator[tuple[Split, SplitResult | Exception]]:
    """Each split with what the method gives on it, or with the failure that is its result."""
    method, inner = spec["method"], spec["evaluation"]["inner_folds"]
    size = f", training size {drawn[0].train_size}" if drawn[0].train_size else ""
    splits = progress(drawn, len(drawn), f"{method['id']}{size}: split")
    if method["parameters"].get("kernel_weights") != "oracle_single":
        for split in splits:
            yield split, _evaluate(samples, spec, method, y, split, inner, limit)
        return
    assert isinstance(samples, KernelInput)
    alone = method | {"parameters": method["parameters"] | {"kernel_weights": "uniform"}}
    by_kernel = []
    for kernel, one in zip(samples.kernels, np.eye(samples.n_kernels), strict=True):
        single = KernelInput(samples.pairwise, [kernel])
        results = [_evaluate(single, spec, alone, y, split, None, limit) for split in drawn]
        for result in results:
            for rule in result.rules.values() if isinstance(result, SplitResult) else []:
                rule.fitted.weights = one  # among all the kernels there are to choose from
        by_kernel.append(results)
    ended = next((result for results in by_kernel for result in results if isinstance(result, Ended)), None)
    if ended is not None:  # the best of some of the kernels is not the best of all
        yield from ((split, ended) for split in drawn)
        return
    yield from zip(drawn, best_on_test(by_kernel), strict=True)


def _evaluate(
    samples: MethodInput, spec: dict[str, Any], method: dict[str, Any], y: np.ndarray, split: Split, inner: Any,
    limit: TimeLimit,
) -> SplitResult | Exception:  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with limit.enforced():
                result: SplitResult | Exception = evaluate_split(
                    samples, method, y, split.train, split.test,
                    neighbours=spec["evaluation"]["neighbours"], inner=inner, seed=spec["seed"],
                )  # fmt: skip
        except EXPECTED as reason:
            result = reason
        except (MemoryError, TimeLimitReached) as reason:
            result = _ended(reason, limit)
        if not isinstance(result, SplitResult):
            result.__traceback__ = result.__cause__ = result.__context__ = None  # they keep the split's arrays
            logger.warning("%s: %s: %s", split.name, type(result).__name__, result)
    for message in sorted({str(warning.message) for warning in caught}):
        logger.warning("%s: %s", split.name, message)
    return result


def _ended(reason: BaseException, limit: TimeLimit) -> Ended:
    if isinstance(reason, MemoryError):
        return Ended("out_of_memory", f"memory ran out: {reason}" if str(reason) else "memory ran out")
    unit = "minute" if limit.minutes == 1 else "minutes"
    return Ended("time_limit", f"the time limit of {limit.minutes:g} {unit} for all splits was over")


def _rows(result: SplitResult, common: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    for neighbour, rule in result.rules.items():
        estimator = rule.fitted.estimator
        certificate = getattr(estimator, "certificate_", None) or {}
        shared = common | {
            "neighbour": neighbour,
            "parameters": canonical(rule.candidate.parameters),
            "n_iter": getattr(estimator, "n_iter_", None),
            "objective": float(getattr(estimator, "objective_", np.nan)),
            "gap": float(certificate.get("gap", np.nan)),
            "solver": str(certificate.get("solver", "")),
            "status": "inaccurate" if getattr(estimator, "status_", "") == "inaccurate" else "ok",
            "message": _message(estimator),
            "fit_seconds": rule.fitted.fit_seconds,
            "predict_seconds": rule.fitted.predict_seconds,
            "peak_mb": peak,
            "utc": pd.Timestamp.now(tz="UTC").strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        for dimension, value in zip(rule.dimensions, rule.accuracy, strict=False):
            rows.append(shared | {"selection": "dimension", "dimension": dimension, "value": float(value)})
        chosen = {"selection": "inner_cv", "dimension": rule.dimension}
        if rule.chosen_accuracy is None:
            rows.append(shared | chosen | {"status": "not_applicable", "message": result.selection_message})
        else:
            rows.append(shared | chosen | {"value": rule.chosen_accuracy})
    return rows


def _iteration_rows(
    samples: MethodInput, spec: dict[str, Any], y: np.ndarray, split: Split, common: dict[str, Any], limit: TimeLimit
) -> list[dict[str, Any]]:
    """Accuracy after each iteration, for methods that are asked for it; by the first nearest-neighbour rule."""
    method = spec["method"]
    if "iterations" not in method:
        return []
    estimator = load(method["implementation"])(**method["parameters"])
    rule = spec["evaluation"]["neighbours"][0]
    labels = y[split.train], y[split.test]
    try:
        with limit.enforced():
            train, test = samples.prepare(split.train, split.test).arrays(None)
            curves = accuracy_by_iteration(estimator, train, test, *labels, method["iterations"], rule)
    except (MemoryError, TimeLimitReached) as reason:  # the split itself has its values
        ended = _ended(reason, limit)
        logger.warning("%s: iterations: %s", split.name, ended)
        return [common | {"neighbour": rule, "selection": "iteration"} | _failure(ended)]
    return [
        common | {"neighbour": rule, "selection": "iteration", "dimension": size, "n_iter": t, "value": float(value)}
        for size, curve in curves.items()
        for t, value in enumerate(curve, start=1)
    ]


def _model(results: list[tuple[Split, SplitResult]], spec: dict[str, Any], y: np.ndarray) -> dict[str, Any]:
    """What a report shows: weights and objective of every split, kernel diagnostics, confusion, a 2-D embedding."""
    rules = [(split, next(iter(result.rules.items()))) for split, result in results]
    fits = [(split, rule.fitted) for split, (_, rule) in rules]
    kernel_ids = np.array([kernel["id"] for kernel in spec["kernels"]], dtype=str)
    arrays: dict[str, Any] = {
        "kernel_ids": kernel_ids,
        "weights": np.array([fitted.weights for _, fitted in fits]).reshape(len(fits), len(kernel_ids)),
        "repeats": np.array([split.repeat for split, _ in fits], dtype=np.int64),
        "kernel_info": canonical([_clean(fitted.kernel_info) for _, fitted in fits[:1]]),
        "confusion": _confusion(rules, y),
    }
    history = [
        {"repeat": split.repeat, "fold": split.fold, "half_step": number, **entry}
        for split, fitted in fits
        for number, entry in enumerate(_history(fitted.estimator))
    ]
    arrays["history"] = canonical(_clean(history))
    if fits and fits[0][1].outcome.train:
        split, fitted = fits[0]
        roles = [("train", fitted.outcome.train[-1], split.train), ("test", fitted.outcome.test[-1], split.test)]
        points = np.concatenate([_plane(embedding) for _, embedding, _ in roles])
        arrays["embedding"] = points.astype(np.float32)
        arrays["embedding_y"] = np.concatenate([y[index] for _, _, index in roles])
        arrays["embedding_test"] = np.repeat([False, True], [len(split.train), len(split.test)])
    return arrays


def _confusion(rules: list[tuple[Split, tuple[str, RuleResult]]], y: np.ndarray) -> np.ndarray:
    """Test samples of all splits by true class (row) and predicted class (column), at the chosen dimension."""
    counts = np.zeros((y.max() + 1,) * 2, dtype=np.int32)
    for split, (neighbour, rule) in rules:
        np.add.at(counts, (y[split.test], rule.fitted.outcome.predictions(neighbour, y[split.train], rule.place)), 1)
    return counts


def _history(estimator: Any) -> list[dict[str, Any]]:
    """Objective after every half step of an alternation, and the bound on what other weights could reach."""
    return [
        {"step": entry["step"], "value": entry["objective"], "bound": entry.get("lambda_min")}
        for entry in getattr(estimator, "history_", [])
    ]


def _message(estimator: Any) -> str:
    """What a reader of the table has to know: the estimator's own word, or steps of the SDP that have no solution."""
    if getattr(estimator, "message_", ""):
        return str(estimator.message_)
    steps = [entry for entry in getattr(estimator, "history_", []) if "mixed_sign" in entry]
    mixed = sum(bool(entry["mixed_sign"]) for entry in steps)
    if not mixed or estimator.get_params().get("beta_step") not in ("sdp", "central_path"):
        return ""
    return f"mixed signs in {mixed} of {len(steps)} beta-steps: the optimal weights are 0, these are a solver's path"


def _plane(embedding: np.ndarray) -> np.ndarray:
    padded = np.zeros((len(embedding), 2))
    padded[:, : min(2, embedding.shape[1])] = embedding[:, :2]
    return padded


def _clean(value: Any) -> Any:
    """Builtin types only, and no NaN, for JSON."""
    if isinstance(value, dict):
        return {str(key): _clean(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value

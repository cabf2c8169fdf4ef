"""Step: one method on every repeat of one protocol."""

from __future__ import annotations

import importlib
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
from mklearn.datasets.samples import SampleSet
from mklearn.datasets.splits import Split, Splits
from mklearn.errors import DataError, NotApplicable
from mklearn.evaluation.inputs import KernelInput, MethodInput, SampleInput
from mklearn.evaluation.iterations import accuracy_by_iteration
from mklearn.evaluation.oracle import best_on_test
from mklearn.evaluation.split import EXPECTED, RuleResult, SplitResult, evaluate_split
from mklearn.provenance import array_digest, canonical, code_fingerprint, stamp
from mklearn.steps.log import logger, progress


def fit(
    labels: Path, splits: Path, scores: Path, model: Path, *, spec: dict[str, Any], manifest: Path | None = None,
    matrices: list[Path] | None = None, source: Path | None = None, code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Fit ``spec["method"]`` on every split; write its score rows and what a report shows of the fits.

    A failure that is a result (a solver without solution, a method that does not apply) becomes a row with its reason.
    """
    samples, digests = _samples(spec, manifest, matrices or [], source)
    table, _ = read_parquet(labels)
    y = table["y"].to_numpy()
    plan = Splits.load(splits, table["id"].to_numpy(dtype=str))
    fingerprint = code_fingerprint(code or [])
    rows: list[dict[str, Any]] = []
    fits: list[tuple[Split, SplitResult]] = []
    for split, result in _results(samples, spec, y, plan):
        common = _common(spec, split, fingerprint)
        if isinstance(result, SplitResult):
            rows += _rows(result, common)
            rows += _iteration_rows(samples, spec, y, split, common)
            fits.append((split, result))
        else:
            status = "not_applicable" if isinstance(result, NotApplicable) else "failed"
            rows.append(common | {"status": status, "message": " ".join(str(result).split())})
    record = stamp(spec, digests, code or [])
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    write_parquet(scores, frame, record)
    write_npz(model, **_model(fits, spec, y), spec=canonical(spec), provenance=canonical(record))


COLUMNS = {
    "dataset": "str", "protocol": "str", "train_size": "Int64", "repeat": "int64", "fold": "int64", "method": "str",
    "kernel_set": "str", "neighbour": "str", "selection": "str", "dimension": "Int64", "metric": "str",
    "value": "float64", "status": "str", "message": "str", "parameters": "str", "seed": "int64", "n_train": "int64",
    "n_test": "int64", "n_iter": "Int64", "objective": "float64", "gap": "float64", "solver": "str", "code": "str",
    "fit_seconds": "float64", "predict_seconds": "float64", "peak_mb": "float64", "utc": "str",
}  # fmt: skip
"""Columns of the score rows of one fit, and their types; the study's table adds study and commit."""


def _matrices(paths: list[Path], content: dict[str, Any]) -> dict[str, np.ndarray]:
    found = {}
    for name, path in zip(content["matrices"], paths, strict=True):
        held = read_npz(path, ("matrix", "sha256"))
        if str(held["sha256"]) != content["matrices"][name]["sha256"]:
            raise DataError(f"{path}: is not the matrix that the manifest names; delete the manifest and run again.")
        found[name] = held["matrix"]
    return found


def _samples(
    spec: dict[str, Any], manifest: Path | None, matrices: list[Path], source: Path | None
) -> tuple[MethodInput, dict[str, Any]]:
    """What the method takes - kernels, features or images - and the digests of where it comes from."""
    if manifest is not None:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        return KernelInput(_matrices(matrices, content), spec["kernels"]), {"manifest": content["matrices"]}
    if source is None:
        raise DataError("step fit: needs a manifest and matrices (kernels), or a source (features or images).")
    if spec["method"]["input"] == "features":
        held = read_npz(source, ("features", "sha256"))
        return SampleInput(held["features"]), {"features": str(held["sha256"])}
    images = SampleSet.load(source).images
    if not isinstance(images, np.ndarray) or images.ndim != 3:
        raise DataError(f"{source}: {spec['method']['id']} takes grey images of one size; resize them.")
    return SampleInput(images.astype(np.float64)), {"images": array_digest(images)}


def _results(
    samples: MethodInput, spec: dict[str, Any], y: np.ndarray, plan: Splits
) -> Iterator[tuple[Split, SplitResult | Exception]]:
    """Each split with what the method gives on it, or with the failure that is its result."""
    method, inner = spec["method"], spec["evaluation"]["inner_folds"]
    splits = progress(plan, len(plan), f"{method['id']}: split")
    if method["parameters"].get("kernel_weights") != "oracle_single":
        for split in splits:
            yield split, _evaluate(samples, spec, method, y, split, inner)
        return
    assert isinstance(samples, KernelInput)
    kept = list(plan)
    alone = method | {"parameters": method["parameters"] | {"kernel_weights": "uniform"}}
    by_kernel = []
    for kernel, one in zip(samples.kernels, np.eye(samples.n_kernels), strict=True):
        single = KernelInput(samples.pairwise, [kernel])
        results = [_evaluate(single, spec, alone, y, split, None) for split in kept]
        for result in results:
            for rule in result.rules.values() if isinstance(result, SplitResult) else []:
                rule.fitted.weights = one  # among all the kernels there are to choose from
        by_kernel.append(results)
    yield from zip(kept, best_on_test(by_kernel), strict=True)


def _evaluate(
    samples: MethodInput, spec: dict[str, Any], method: dict[str, Any], y: np.ndarray, split: Split, inner: Any
) -> SplitResult | Exception:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result: SplitResult | Exception = evaluate_split(
                samples, method, y, split.train, split.test,
                neighbours=spec["evaluation"]["neighbours"], inner=inner, seed=spec["seed"],
            )  # fmt: skip
        except EXPECTED as reason:
            logger.warning("repeat %d, fold %d: %s: %s", split.repeat, split.fold, type(reason).__name__, reason)
            result = reason
    for message in sorted({str(warning.message) for warning in caught}):
        logger.warning("repeat %d, fold %d: %s", split.repeat, split.fold, message)
    return result


def _common(spec: dict[str, Any], split: Split, fingerprint: str) -> dict[str, Any]:
    return {
        "dataset": spec["dataset"], "protocol": spec["protocol"], "train_size": spec["train_size"],
        "repeat": split.repeat, "fold": split.fold, "method": spec["method"]["id"],
        "kernel_set": "+".join(kernel["id"] for kernel in spec["kernels"]) or spec["method"]["input"],
        "neighbour": "", "selection": "",
        "dimension": None, "metric": "accuracy", "value": np.nan, "status": "ok", "message": "", "parameters": "{}",
        "seed": spec["seed"], "n_train": len(split.train), "n_test": len(split.test), "n_iter": None,
        "objective": np.nan, "gap": np.nan, "solver": "", "code": fingerprint, "fit_seconds": np.nan,
        "predict_seconds": np.nan, "peak_mb": np.nan, "utc": "",
    }  # fmt: skip


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
    samples: MethodInput, spec: dict[str, Any], y: np.ndarray, split: Split, common: dict[str, Any]
) -> list[dict[str, Any]]:
    """Accuracy after each iteration, for methods that are asked for it; by the first nearest-neighbour rule."""
    method = spec["method"]
    if "iterations" not in method:
        return []
    train, test = samples.prepare(split.train, split.test).arrays(None)
    module, name = method["implementation"].split(":")
    estimator = getattr(importlib.import_module(module), name)(**method["parameters"])
    rule = spec["evaluation"]["neighbours"][0]
    curves = accuracy_by_iteration(estimator, train, test, y[split.train], y[split.test], method["iterations"], rule)
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

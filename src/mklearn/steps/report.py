"""Step: the report of a study: one page, its tables and figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import read_npz, read_parquet
from mklearn.datasets.samples import SampleSet
from mklearn.provenance import file_digest, input_digests, stamp
from mklearn.report.build import build_report
from mklearn.report.records import FitRecord
from mklearn.stamps import write_beside
from mklearn.steps.log import logger
from mklearn.study.schema import yaml_text

THUMBNAIL = 64
"""Pixels of a thumbnail's longer side, at most."""
PICTURED = 3
"""Images that are shown under each descriptor."""


def report(
    scores: Path, summary: Path, record: Path, models: list[Path], samples: list[Path], page: Path, *,
    spec: dict[str, Any], code: list[Path] | None = None, threads: int = 1,
) -> None:  # fmt: skip
    """Write ``page`` (index.html) and, beside it, summary.md, summary.csv, reproduction.csv, figures/.

    The page carries its stamp; that of the files beside it lies in provenance.json.
    """
    fits = [fit for path, entry in zip(models, spec["fits"], strict=True) for fit in _fits(path, entry)]
    held = [SampleSet.load(path) for path in samples]
    labels = {entry["id"]: data.classes for entry, data in zip(spec["datasets"], held, strict=True)}
    fits = [_named(fit, labels[fit.dataset]) for fit in fits]
    titles = {entry["id"]: entry["title"] for entry in spec["descriptors"]}
    run = json.loads(record.read_text(encoding="utf-8"))
    inputs = input_digests(scores=scores, summary=summary, record=record, models=models, samples=samples)
    run["provenance"] = stamp(spec, inputs, code or [])
    machine = run["machine"]
    run["machine"] = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"
    run |= {"config_text": yaml_text(run["config"]), "reference": spec["reference"], "methods": spec["methods"],
            "kernels": spec["kernels"], "descriptors": spec["descriptors"], "calibration": spec.get("calibration"),
            "remarks": spec.get("remarks", []), "best_single": spec.get("best_single", [])}  # fmt: skip
    written = build_report(
        page.parent,
        study={name: spec[name] for name in ("study", "title", "description")},
        scores=read_parquet(scores)[0],
        summary=read_parquet(summary)[0],
        fits=fits,
        data=[
            _data(entry, data, spec["thumbnails"]) | _pictured(entry, data, titles)
            for entry, data in zip(spec["datasets"], held, strict=True)
        ],
        run=run,
        threads=threads,
    )
    write_beside(written, run["provenance"], page.parent / "provenance.json")
    logger.info("%d files in %s", len(written), page.parent)


def _fits(path: Path, entry: dict[str, Any]) -> Iterator[FitRecord]:
    """One record for each training size."""
    held = read_npz(path)
    for setting in entry["settings"]:
        start = f"{setting['protocol']}/"
        own = {name.removeprefix(start): array for name, array in held.items() if name.startswith(start)}
        yield _fit(own, entry | setting)


def _fit(held: dict[str, np.ndarray], entry: dict[str, Any]) -> FitRecord:
    history = pd.DataFrame(json.loads(str(held["history"])), columns=["repeat", "half_step", "step", "value", "bound"])
    embedding = None
    if "embedding" in held:
        embedding = pd.DataFrame(held["embedding"], columns=["x", "y"])
        embedding["label"] = held["embedding_y"]
        embedding["role"] = np.where(held["embedding_test"], "test", "train")
    info = json.loads(str(held["kernel_info"]))
    return FitRecord(
        dataset=entry["dataset"], protocol=entry["protocol"], train_size=entry["train_size"], method=entry["method"],
        method_title=entry["title"], kernel_ids=held["kernel_ids"].tolist(),
        weights=held["weights"] if len(held["kernel_ids"]) > 1 else None,
        history=history if len(history) else None, embedding=embedding,
        kernel_info=pd.DataFrame(info[0]).rename(columns={"id": "kernel"}) if info else None,
        confusion=held.get("confusion"),
    )  # fmt: skip


def _named(fit: FitRecord, classes: np.ndarray) -> FitRecord:
    if fit.embedding is not None:
        fit.embedding["label"] = classes[fit.embedding["label"].to_numpy()]
    return replace(fit, classes=classes)


def _data(entry: dict[str, Any], data: SampleSet, thumbnails: int) -> dict[str, Any]:
    """What the page says of a data set: size, source, licence, some of its images."""
    files = [
        {"name": file["name"], "sha256": file_digest(file["path"]), "bytes": Path(file["path"]).stat().st_size,
         "source": file["source"]}
        for file in entry["files"]
    ]  # fmt: skip
    found = {"id": entry["id"], "title": entry["title"], "n_samples": len(data), "n_classes": data.n_classes,
             "files": files, "notes": list(data.notes), **entry["about"]}  # fmt: skip
    if data.images is not None and thumbnails:
        found["thumbnails"] = _thumbnails(data, thumbnails)
    return found


def _pictured(entry: dict[str, Any], data: SampleSet, titles: dict[str, str]) -> dict[str, Any]:
    """Some images, of classes far apart, and the descriptors to show them under."""
    if data.images is None or not entry.get("descriptors"):
        return {}
    codes = np.unique(np.linspace(0, data.n_classes, PICTURED, endpoint=False).astype(int))
    rows = [int(np.flatnonzero(data.y == code)[0]) for code in codes]
    descriptors = [{"title": titles.get(descriptor["id"], "")} | descriptor for descriptor in entry["descriptors"]]
    names = [str(data.classes[code]) for code in codes]
    return {"pictured": {"images": [data.images[row] for row in rows], "names": names, "descriptors": descriptors}}


def _thumbnails(data: SampleSet, count: int) -> np.ndarray:
    """(k, rows, cols) uint8: the first image of each class, then the second, up to ``count``; stretched to 0..255.

    Images of different shapes keep their own, in the middle of a square.
    """
    from mklearn.datasets.resizing import resize_images

    nth = pd.Series(data.y).groupby(data.y).cumcount().to_numpy()
    assert data.images is not None
    chosen = [np.asarray(data.images[int(i)], dtype=np.float64) for i in np.argsort(nth, kind="stable")[:count]]
    grey = [image.mean(axis=2) if image.ndim == 3 else image for image in chosen]
    small = [np.asarray(resize_images([image], shape=_small(image.shape))[0], dtype=float) for image in grey]
    low, high = min(image.min() for image in small), max(image.max() for image in small)
    frame = np.array([image.shape for image in small]).max(axis=0)
    shown = np.full((len(small), *frame), high)
    for place, image in zip(shown, small, strict=True):
        top, left = (frame - image.shape) // 2
        place[top : top + image.shape[0], left : left + image.shape[1]] = image
    return np.asarray(np.round(255 * (shown - low) / max(high - low, 1e-12)), dtype=np.uint8)


def _small(shape: tuple[int, ...]) -> tuple[int, int]:
    scale = min(1.0, THUMBNAIL / max(shape[:2]))
    return max(1, round(shape[0] * scale)), max(1, round(shape[1] * scale))

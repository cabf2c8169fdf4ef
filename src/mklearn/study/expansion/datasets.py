"""A data set of the plan: how it is read, resized, and which files it comes from."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mklearn.errors import ConfigError
from mklearn.provenance import digest, key
from mklearn.study.datasets import FeatureTables, ImageFolder, Precomputed, RegisteredDataset
from mklearn.study.model import Study

Spec = dict[str, Any]
OWN = {"images": "images", "tables": "features", "matrices": "kernels"}


@dataclass(frozen=True)
class PlannedDataset:
    """A data set: how it is read, resized, and which files it comes from."""

    id: str
    key: str
    original: str
    family: str
    read: Spec
    resize: Spec | None
    downloads: dict[str, Spec]
    files: list[str]
    title: str
    n_samples: int | None = None
    """How many samples it has, where that is known before it is read."""
    about: dict[str, str] = field(default_factory=dict)
    """Licence, citation, homepage and note of a registered one: for the report, and in no key."""

    @property
    def sources(self) -> dict[str, str]:
        """Upstream's address of each downloaded file."""
        return {path: next(iter(spec["file"]["urls"]), "") for path, spec in self.downloads.items()}


def planned_dataset(study: Study, dataset_id: str, config: Any) -> PlannedDataset:
    """Spell a data set out; its key depends on what is read and how it is resized, not on where it lies."""
    from mklearn.datasets.registry import MIRROR_VARIABLE, dataset_spec, entry

    raw = config.model_dump()
    registered = isinstance(config, RegisteredDataset)
    if registered:
        raw["name"] = config.name or dataset_id
    read = dataset_spec(raw)
    resize: Spec | None = read.pop("resize", None)
    if resize:
        resize = {name: value for name, value in resize.items() if value is not None}
        read["expected"] = {k: v for k, v in read.get("expected", {}).items() if k != "image_shape"}
    read["dataset"] = dataset_id
    downloads: dict[str, Spec] = {}
    about: dict[str, str] = {}
    n_samples = None
    if registered:
        known = entry(raw["name"])
        folder = Path(study.results) / "downloads" / known.id
        source = known.source(os.environ.get(MIRROR_VARIABLE) or study.mirror)  # the order of the download
        downloads = {
            str(folder / file.name): {
                "file": _builtin(asdict(file)),
                "reader": known.reader,
                "options": read["options"],
            }
            for file in source.files
        }
        title = known.title if dataset_id == known.id else f"{known.title}, {dataset_id}"  # two draws are two columns
        files, family = list(downloads), "images"
        n_samples = known.n_samples(raw)
        about = {name: getattr(known, name) for name in ("licence", "citation", "homepage", "note")}
    else:
        files, family = _own_files(dataset_id, config)
        title = f"{dataset_id} (your own {OWN[family]})"
    original = key(dataset_id, read)
    dataset_key = key(dataset_id, [read, resize]) if resize else original
    if isinstance(config, ImageFolder):
        read["listing"] = _listing(dataset_id, config.path)  # not in the key: a changed folder makes the same file anew
    return PlannedDataset(
        id=dataset_id, key=dataset_key, original=original, family=family, read=read,
        resize=resize, downloads=downloads, files=files, title=title,
        about=about, n_samples=n_samples,
    )  # fmt: skip


def _builtin(fields: Spec) -> Spec:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def _own_files(dataset_id: str, config: ImageFolder | FeatureTables | Precomputed) -> tuple[list[str], str]:
    """The user's files that a data set is read from, and what they hold; for a folder of images see `_listing`."""
    if isinstance(config, ImageFolder):
        return [], "images"
    named = config.tables if isinstance(config, FeatureTables) else config.matrices
    files = [*named.values(), *([config.labels] if config.labels else [])]
    missing = [path for path in files if not Path(path).is_file()]
    if missing:
        raise ConfigError(f"datasets.{dataset_id}: no such file: {', '.join(missing)}.")
    special = [path for path in files if set("<>{}") & set(path)]
    if special:
        raise ConfigError(
            f"datasets.{dataset_id}: {', '.join(special)}: '<', '>', '{{' and '}}' have a meaning to Snakemake in the "
            "name of a file; rename it."
        )
    return files, "tables" if isinstance(config, FeatureTables) else "matrices"


def _listing(dataset_id: str, path: str) -> str:
    """Digest of the names, sizes and times of a folder's images.

    It stands for the images in the job's specification. As inputs, ten thousand of them would slow every plan down,
    and Snakemake reads some characters that people use in folder names.
    """
    from mklearn.datasets.readers.image_folder import find_images

    if not Path(path).is_dir():
        raise ConfigError(f"datasets.{dataset_id}.path: there is no folder {path!r}.")
    found = [(file, file.stat()) for file in find_images(path)]
    return digest([[file.relative_to(path).as_posix(), stat.st_size, stat.st_mtime_ns] for file, stat in found])

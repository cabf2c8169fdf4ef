"""A data set of the plan: how it is read and resized, and which files it comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from mklearn.contract.specs import DownloadSpec, FileSpec, ReadSpec, ResizeSpec
from mklearn.datasets.registry import MIRROR_VARIABLE, dataset_spec, entry
from mklearn.errors import ConfigError
from mklearn.provenance import digest, key
from mklearn.study.datasets import DatasetConfig, FeatureTables, ImageFolder, Precomputed, RegisteredDataset
from mklearn.study.layout import Layout

OWN = {"images": "images", "tables": "features", "matrices": "kernels"}
"""Words for what the user's own data are, by family."""


@dataclass(frozen=True)
class PlannedDataset:
    """A data set: how it is read and resized, and which files it comes from."""

    id: str
    key: str
    """Key at its final size."""
    original: str
    """Key before resizing."""
    family: str
    """Images, tables or matrices."""
    read: ReadSpec
    resize: ResizeSpec | None
    files: list[str]
    title: str
    downloads: Mapping[str, DownloadSpec] = field(default_factory=dict)
    """By path; none for the user's own data."""
    n_samples: int | None = None
    """Number of samples, if it is known before the data set is read."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Licence, citation, homepage and note of a registered data set: for the report, and in no key."""

    @property
    def sources(self) -> dict[str, str]:
        """Upstream's address of each downloaded file."""
        return {path: next(iter(spec.file.urls), "") for path, spec in self.downloads.items()}


def planned_dataset(dataset_id: str, config: DatasetConfig, layout: Layout, mirror: str | None) -> PlannedDataset:
    """Expand a data set; its key depends on what is read and how it is resized, not on where it lies.

    Raises
    ------
    ConfigError
        A file or folder of the user does not exist, or Snakemake can't take its name.
    """
    if isinstance(config, RegisteredDataset):
        return _registered(dataset_id, config, layout, mirror)
    read, resize = _reading(dataset_id, config.model_dump())
    planned = PlannedDataset(
        dataset_id, *_keys(dataset_id, read, resize), config.family, read, resize,
        files=[] if isinstance(config, ImageFolder) else _own_files(dataset_id, config),
        title=f"{dataset_id} (your own {OWN[config.family]})",
    )  # fmt: skip
    if not isinstance(config, ImageFolder):
        return planned
    listed = read.model_copy(update={"listing": _listing(dataset_id, config.path)})
    return replace(planned, read=listed)


def _registered(dataset_id: str, config: RegisteredDataset, layout: Layout, mirror: str | None) -> PlannedDataset:
    raw = config.model_dump() | {"name": config.name or dataset_id}
    known = entry(raw["name"])
    read, resize = _reading(dataset_id, raw)
    downloads = {
        layout.path("download", source=known.id, file=file.name): DownloadSpec(
            file=FileSpec(**file.model_dump()), reader=known.reader, options=read.options
        )
        for file in known.packaging(os.environ.get(MIRROR_VARIABLE) or mirror)  # the order of the download
    }
    return PlannedDataset(
        dataset_id, *_keys(dataset_id, read, resize), config.family, read, resize,
        files=list(downloads),
        title=known.title if dataset_id == known.id else f"{known.title}, {dataset_id}",  # two draws are two columns
        downloads=downloads,
        n_samples=known.n_samples(raw),
        about={name: getattr(known, name) for name in ("licence", "citation", "homepage", "note")},
    )  # fmt: skip


def _reading(dataset_id: str, raw: dict[str, object]) -> tuple[ReadSpec, ResizeSpec | None]:
    """Return how the data set is read, and how its images are resized afterwards."""
    fields = dataset_spec(raw)
    resize = {name: value for name, value in (fields.pop("resize", None) or {}).items() if value is not None}
    if resize and "expected" in fields:  # the size is known only after resizing
        fields["expected"] = {name: value for name, value in fields["expected"].items() if name != "image_shape"}
    return ReadSpec(**fields, dataset=dataset_id), ResizeSpec(**resize) if resize else None


def _keys(dataset_id: str, read: ReadSpec, resize: ResizeSpec | None) -> tuple[str, str]:
    """Return the key at the final size, and the key before resizing."""
    original = key(dataset_id, read.as_dict())
    return key(dataset_id, [read.as_dict(), resize.as_dict()]) if resize else original, original


def _own_files(dataset_id: str, config: FeatureTables | Precomputed) -> list[str]:
    named = config.tables if isinstance(config, FeatureTables) else config.matrices
    files = [*named.values(), *([config.labels] if config.labels else [])]
    missing = [path for path in files if not Path(path).is_file()]
    if missing:
        raise ConfigError(f"datasets.{dataset_id}: there is no file {', '.join(missing)}.")
    special = [path for path in files if set("<>{}") & set(path)]
    if special:
        raise ConfigError(
            f"datasets.{dataset_id}: {', '.join(special)}: Snakemake can't take '<', '>', '{{' or '}}' in the name of "
            "a file; rename it."
        )
    return files


def _listing(dataset_id: str, path: str) -> str:
    """Return a digest of the names, sizes and times of a folder's images.

    It represents the images in the job's specification. As inputs, ten thousand of them would slow every plan down,
    and Snakemake can't take some characters that people use in names of folders.
    """
    from mklearn.datasets.readers.image_folder import find_images

    if not Path(path).is_dir():
        raise ConfigError(f"datasets.{dataset_id}.path: there is no folder {path!r}.")
    found = [(file, file.stat()) for file in find_images(path)]
    return digest([[file.relative_to(path).as_posix(), stat.st_size, stat.st_mtime_ns] for file, stat in found])

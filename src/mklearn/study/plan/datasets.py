"""Data sets and protocols of the plan: how samples are read and split, and from which files."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from mklearn.errors import ConfigError, absence
from mklearn.study.data.registry import MIRROR_VARIABLE, Entry, entry
from mklearn.study.datasets import DatasetConfig, FeatureTables, ImageFolder, RegisteredDataset
from mklearn.study.entries import Protocol
from mklearn.study.provenance import digest, file_digest, key
from mklearn.study.specs.data_specs import DOWNLOADS, FOLDER_KEY, FileSpec, SplitSpec
from mklearn.study.specs.fit_spec import Impute, Setting

FEWEST_ROWS, MOST_ROWS, BLOCKS = 20_000, 100_000, 16
"""Default block size: a sixteenth (``BLOCKS``) of the samples, at least ``FEWEST_ROWS``, at most ``MOST_ROWS``."""
MOST_READ = 200 << 20
"""Largest total size, in bytes, of a folder of images whose contents are read for each plan."""
OWN = {"images": "images", "tables": "features", "matrices": "kernels"}
"""Description of the user's own data in titles, by family."""


@dataclass(frozen=True)
class PlannedDataset:
    """A data set of the plan: how it is read, and from which files."""

    id: str
    key: str
    """Key of the data set at the size of its images."""
    config: DatasetConfig
    read: dict[str, Any]
    """Specification for :func:`mklearn.study.data.read.read_dataset`."""
    splits_of: str
    """Name that seeds the generator of the splits."""
    title: str = ""
    files: list[str] = field(default_factory=list)
    downloads: Mapping[str, FileSpec] = field(default_factory=dict)
    """Files to download, by path; empty for the user's own data."""
    protocol_files: Mapping[str, list[str]] = field(default_factory=dict)
    """Paths of files of official splits, by kind of protocol."""
    n_samples: int | None = None
    """Number of samples, if known before the data set is read."""
    n_blocks: int = 1
    """Number of jobs that share one pass over the samples (methods with landmarks only)."""
    registered: Entry | None = None
    """Entry in the registry; None for the user's own data."""

    @property
    def splits_from(self) -> str | None:
        """Another data set of the study, with the same samples, whose splits this one uses."""
        return None if self.config.splits_of == self.id else self.config.splits_of

    @property
    def completes(self) -> bool:
        """Whether samples that lack a table are put at the mean of the training samples in each kernel."""
        return getattr(self.registered or self.config, "missing_views", "error") == "mean"

    @property
    def impute(self) -> Impute:
        """Imputation of missing values of tables."""
        return getattr(self.config, "impute", "none")

    @property
    def is_incomplete(self) -> bool:
        """Whether tables may have missing rows or values."""
        return self.completes or self.impute != "none"

    @property
    def keeps_ratios(self) -> bool:
        """Whether images may have different sizes because resizing to a number of pixels keeps aspect ratios."""
        one_shape = self.registered is not None and "image_shape" in self.registered.expected
        return "pixels" in self.read.get("resize", {}) and not one_shape


def planned_dataset(dataset_id: str, datasets: Mapping[str, DatasetConfig], results: str) -> PlannedDataset:
    """Plan one of the data sets. Its key depends on the content read and on resizing, not on the paths of downloads."""
    config = datasets[dataset_id]
    read = config.reading() | {"dataset": dataset_id}
    splits_of = splits_source(dataset_id, datasets)
    made_by = key(dataset_id, read | _further_names(config, splits_of, results))
    if isinstance(config, RegisteredDataset):
        return _registered(PlannedDataset(dataset_id, made_by, config, read, splits_of), config, results)
    title = config.title or f"{dataset_id} (your own {OWN[config.family]})"
    files = _own_files(dataset_id, read["paths"])
    if isinstance(config, ImageFolder):
        read |= {"listing": _listing(dataset_id, config.path)}
    return PlannedDataset(dataset_id, made_by, config, read, splits_of, title, files)


def _further_names(config: DatasetConfig, splits_of: str, results: str) -> dict[str, Any]:
    """Return further parts of the key: the order of tables (a key sorts them), the origin of splits, the folder."""
    names: dict[str, Any] = {}
    if isinstance(config, FeatureTables) and list(config.tables) != sorted(config.tables):
        names["order"] = list(config.tables)  # sets the order of samples
    if config.splits_of is not None:
        same = config.splits_of == splits_of
        names["splits_of"] = splits_of if same else [config.splits_of, splits_of]  # data set, seeding name
    if not isinstance(config, RegisteredDataset) and not Path(results).resolve().is_relative_to(Path.cwd()):
        names["folder"] = str(Path.cwd())  # a study in another folder may have the same relative paths
    return names


def splits_source(dataset_id: str, datasets: Mapping[str, DatasetConfig]) -> str:
    """Return the name that seeds the splits of a data set; entries with one name and the same labels share splits."""
    config = datasets[dataset_id]
    if config.splits_of is None:
        return config.name if isinstance(config, RegisteredDataset) else dataset_id
    return dataset_id if config.splits_of == dataset_id else splits_source(config.splits_of, datasets)


def _registered(planned: PlannedDataset, config: RegisteredDataset, results: str) -> PlannedDataset:
    registered = entry(config.name)

    def path(file: FileSpec) -> str:
        return str(Path(results, DOWNLOADS.format(source=registered.of or registered.id, file=file.name)))

    files = registered.packaging(os.environ.get(MIRROR_VARIABLE) or None)  # as in the download
    downloads = {path(file): file for file in [*files, *chain(*registered.protocol_files.values())]}
    draw = "" if planned.id == registered.id else f", {planned.id}"  # tells two draws of one data set apart
    return replace(
        planned,
        files=[path(file) for file in files],
        protocol_files={kind: [path(file) for file in listed] for kind, listed in registered.protocol_files.items()},
        title=config.title or f"{registered.title}{draw}",
        downloads=downloads,
        n_samples=registered.n_samples(config.model_dump()),
        registered=registered,
    )


def _own_files(dataset_id: str, paths: Mapping[str, str]) -> list[str]:
    files = list(dict.fromkeys(path for name, path in paths.items() if name != FOLDER_KEY))
    missing = [f"{path}: {absence(path)}" for path in files if not Path(path).is_file()]
    if missing:
        raise ConfigError(f"datasets.{dataset_id}: {'; '.join(missing)}.")
    special = [path for path in files if set("<>{}") & set(path)]
    if special:
        raise ConfigError(
            f"datasets.{dataset_id}: {', '.join(special)}: Snakemake can't take '<', '>', '{{' or '}}' in the name of "
            "a file; rename it."
        )
    return files


def _listing(dataset_id: str, path: str) -> str:
    """Return a digest of the names and contents of the images in a folder; of times and sizes if they are too many.

    It represents the images in the specification of the job. Ten thousand input files would slow down every plan, and
    Snakemake rejects some characters in the names of folders.
    """
    from mklearn.study.data.readers.images import find_images

    if not Path(path).is_dir():
        raise ConfigError(f"datasets.{dataset_id}.path: there is no folder {path!r}.")
    files = [(file, file.stat()) for file in find_images(Path(path))[0]]
    few = sum(stat.st_size for _, stat in files) <= MOST_READ and all(os.access(file, os.R_OK) for file, _ in files)
    return digest([
        [file.relative_to(path).as_posix(), *([file_digest(file)] if few else [stat.st_size, stat.st_mtime_ns])]
        for file, stat in files
    ])  # fmt: skip


def number_of_blocks(n_samples: int, blocks: int | None) -> int:
    """Return the number of blocks: `blocks` if given, else by the number of samples."""
    return blocks or math.ceil(n_samples / min(MOST_ROWS, max(FEWEST_ROWS, math.ceil(n_samples / BLOCKS))))


# --- protocols


@dataclass(frozen=True)
class PlannedProtocol:
    """A protocol of the plan, for all or some of the data sets."""

    id: str
    key: str
    entry: Protocol
    settings: list[Setting]
    """Training sizes, as score rows name them: ``faces-p2`` and 2 for protocol ``faces``."""
    spec: SplitSpec


def planned_protocol(protocol_id: str, protocol: Protocol, seed: int) -> PlannedProtocol:
    """Plan a protocol of the study; raise ConfigError if its file of splits does not exist."""
    path = protocol.path
    if path is not None and not Path(path).is_file():
        raise ConfigError(f"protocols.{protocol_id}.path: {path}: {absence(path)}.")
    spec = SplitSpec(
        kind=protocol.kind, implementation=protocol.row.implementation, parameters=protocol.parameters(), seed=seed
    )
    name = f"{protocol_id}-optimistic" if protocol.choose == "test_set" else protocol_id
    settings = [
        Setting(protocol=name if size is None else f"{name}-p{size}", train_size=size)
        for size in protocol.train_sizes()
    ]
    return PlannedProtocol(protocol_id, key(protocol_id, spec.as_dict()), protocol, settings, spec)

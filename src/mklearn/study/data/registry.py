"""Registry of public data sets (registry.yaml).

Imports are kept light, because every cluster job imports this module to parse its study.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

import yaml
from pydantic import Field

from mklearn.errors import ConfigError, nearest
from mklearn.study.extensions import OWN_PACKAGE, entry_points, package_of
from mklearn.study.specs.data_specs import FileSpec, TargetKind
from mklearn.study.specs.model import Strict

MIRROR_VARIABLE = "MKLEARN_MIRROR"
SELECTION = ("classes", "exclude_classes", "first_classes", "per_class", "draw")
"""Keys that select samples of a registered data set; see :func:`mklearn.study.data.read.chosen_rows`."""


class Entry(Strict):
    """One registered data set.

    `files` is upstream's packaging; `alternatives` are other packagings of the same samples. One reader reads them all,
    so that neither the specification of the data set nor any key in the workflow depends on the origin of its files.
    """

    id: str
    title: str
    files: list[FileSpec]
    reader: str
    expected: dict[str, Any]
    licence: str
    citation: str
    homepage: str
    alternatives: list[list[FileSpec]] = Field(default_factory=list)
    options: dict[str, Any] = Field(default_factory=dict)
    resize: dict[str, Any] | None = None
    note: str = ""
    of: str | None = None
    """Entry from which this one inherits all fields that it does not set itself."""
    merge: dict[str, list[str] | Literal["rest"]] | None = None
    """Merged classes by name, each with the original classes that form it."""
    class_groups: bool | None = None
    """Whether the original class of a sample of merged classes is its group, as persons are."""
    released_splits: str | None = None
    """Function (``"module:function"``) that reads the released splits, for the protocol ``released``. It takes the path
    of the first file and the ids of the samples, and returns the ids of the test samples of each split."""
    missing_views: Literal["error", "mean"] = "error"
    """Treatment of samples that lack a table: an error, or the mean of the training samples in each kernel."""
    protocol_files: dict[str, list[FileSpec]] = Field(default_factory=dict)
    """Files of official splits by kind of protocol, such as the lists of pairs of ``verification``."""
    targets: list[str] = Field(default_factory=list)
    """Names of the numbers, or times, that can be predicted; the first is the default of a study. Empty for a data set
    with classes."""
    package: str = ""
    """Package that registers the data set; empty for mklearn's own."""

    @property
    def tables(self) -> list[str]:
        """Names of the feature tables; empty for a data set of images."""
        return list(self.expected.get("tables", ()))

    @property
    def target(self) -> TargetKind:
        """Kind of the target; survival times have a column of events among the options."""
        return "survival" if "event_column" in self.options else "numbers" if self.targets else "classes"

    @property
    def family(self) -> str:
        """Kind of data: "images" or "tables"."""
        return "tables" if self.tables else "images"

    def packaging(self, mirror: str | None) -> list[FileSpec]:
        """Return the files of the first packaging that the mirror has, otherwise upstream's.

        A mirror in a folder (path or file:// URL) is searched. A mirror on the web is assumed to have every file that
        has a path below a mirror.
        """
        if mirror is not None:
            folder = local_folder(mirror)
            for files in (self.files, *self.alternatives):
                paths = [file.mirror for file in files]
                if all(path and (folder is None or (folder / path).is_file()) for path in paths):
                    return files
        return self.files

    def n_samples(self, selection: Mapping[str, Any]) -> int:
        """Estimate the number of samples of a selection (keys of ``SELECTION``) without reading the data."""
        if self.targets:
            return int(self.expected["n_samples"])
        total = int(self.expected["n_classes"])
        merge = selection.get("merge")
        if merge:
            named = total if "rest" in merge.values() else sum(len(names) for names in merge.values())
            return round(self.expected["n_samples"] * named / total)
        n_classes = len(selection.get("classes") or ()) or total - len(selection.get("exclude_classes") or ())
        n_classes = min(n_classes, selection.get("first_classes") or n_classes)
        each = selection.get("per_class") or self.expected["n_samples"] / total
        return round(n_classes * each)

    def spec(self) -> dict[str, Any]:
        """Return the specification for :func:`mklearn.study.data.read.read_dataset`, in builtin types."""
        options = self.options | ({"target": self.targets[0]} if self.targets else {})
        optional = {name: getattr(self, name) for name in ("resize", "merge", "class_groups")}
        further = {name: value for name, value in optional.items() if value is not None}
        return {"registered": self.id, "reader": self.reader, "options": options, "expected": self.expected, **further}


@cache
def registry() -> dict[str, Entry]:
    """Return all registered data sets by id, from mklearn and from installed packages.

    An entry point of group ``mklearn.datasets`` names a YAML file in a package: ``faces = "my_package:registry.yaml"``.
    Raise ConfigError if the file can't be read, or has a data set that is registered already.
    """
    text = package_files("mklearn.study.data").joinpath("registry.yaml").read_text(encoding="utf-8")
    entries = _entries(text, {})
    for point in entry_points()["datasets"]:
        package = package_of(point)
        try:
            text = package_files(point.module).joinpath(point.attr).read_text(encoding="utf-8")
            more = _entries(text, entries, "" if package == OWN_PACKAGE else package)
        except Exception as error:  # importing the package or reading its file can raise anything
            raise ConfigError(f"package {package}: data sets of {point.value} can't be read: {error}") from error
        for name in entries.keys() & more.keys():
            raise ConfigError(f"package {package}: data set {name!r} is registered already.")
        entries |= more
    return entries


def _entries(text: str, others: Mapping[str, Entry], package: str = "") -> dict[str, Entry]:
    raw: dict[str, dict[str, Any]] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    bases = raw | {name: base.model_dump() for name, base in others.items() if name not in raw}
    return {
        name: Entry(**{**bases.get(fields.get("of", ""), {}), **fields, "id": name, "package": package})
        for name, fields in raw.items()
    }


def entry(name: str) -> Entry:
    """Return a registered data set; ConfigError for an unknown name lists the valid ones, and the nearest."""
    entries = registry()
    if name not in entries:
        raise ConfigError(
            f"data set {name!r} is not registered.{nearest(name, entries)} Registered: {', '.join(entries)}"
        )
    return entries[name]


def selection_mistakes(dataset: Entry, selection: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List the mistakes of a selection that the registry shows without the data, as (key, sentence)."""
    expected, mistakes = dataset.expected, list[tuple[str, str]]()
    if (target := selection.get("target")) is not None and target not in dataset.targets:
        valid = ", ".join(dataset.targets) or "none: it has classes"
        mistakes.append(("target", f"{dataset.id} has no target {target!r}; valid: {valid}."))
    if dataset.targets:
        keys = [key for key in ("merge", *SELECTION) if selection.get(key)]
        return mistakes + [
            (key, f"the target of {dataset.id} is {dataset.target} and has no classes; omit it.") for key in keys
        ]
    if selection.get("resize") and dataset.tables:
        mistakes.append(("resize", f"{dataset.id} has tables of features and no images; omit it."))
    if selection.get("merge"):  # the sizes of merged classes are known only after reading
        sentence = f"the classes of {dataset.id!r} are merged already; merge the classes of {dataset.of!r}."
        return mistakes + [("merge", sentence)] * bool(dataset.merge)
    chosen, left_out, first, per_class, draw = (selection.get(key) for key in SELECTION)
    available = len(chosen) if chosen else expected["n_classes"] - len(left_out or ())
    if first is not None and first > available:
        mistakes.append(("first_classes", f"{first} requested, but there are only {available}."))
    smallest = expected.get("smallest_class", expected.get("per_class"))
    # Without a draw, smaller classes are kept whole. After a selection of classes, the smallest size is unknown here.
    is_whole = not chosen and not left_out and first is None and draw is not None
    if is_whole and per_class is not None and smallest is not None and per_class > smallest:
        mistakes.append(("per_class", f"{per_class} can't be drawn: the smallest class has {smallest} samples."))
    return mistakes


def local_folder(mirror: str) -> Path | None:
    """Return the folder of a mirror given by a path or file:// URL; None for a mirror on the web."""
    if mirror.startswith(("http://", "https://")):
        return None
    return Path(url2pathname(urlsplit(mirror).path) if mirror.startswith("file:") else mirror).expanduser()

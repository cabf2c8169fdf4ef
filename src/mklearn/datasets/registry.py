"""The public data sets that mklearn knows (registry.yaml), and the specification by which a step reads any data set.

Light on purpose: imported whenever a study is parsed, in every cluster job.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import yaml

from mklearn.errors import ConfigError
from mklearn.extensions import entry_points, package_of

MIRROR_VARIABLE = "MKLEARN_MIRROR"
SELECTION = ("classes", "exclude_classes", "first_classes", "per_class", "draw")
"""Keys that choose some of a registered data set's samples: :func:`mklearn.datasets.selection.chosen_rows`."""


@dataclass(frozen=True)
class FileEntry:
    """One file to download.

    Parameters
    ----------
    name : str
        Local file name.
    urls : tuple of str
        Where upstream offers it, in order of preference.
    sha256, md5 : tuple of str
        Accepted checksums; one match of either kind is enough. MD5 stands only where nothing better is published.
    bytes : int, optional
        Size of the mirror's copy; for messages only.
    mirror : str, optional
        Path below the root of a mirror; None if mirrors do not have it.
    content_check : bool
        The checksum of upstream's own file is not publicly known: a file downloaded from `urls` with an unlisted
        checksum may be accepted if its decoded content is the expected one.
    """

    name: str
    urls: tuple[str, ...] = ()
    sha256: tuple[str, ...] = ()
    md5: tuple[str, ...] = ()
    bytes: int | None = None
    mirror: str | None = None
    content_check: bool = False


@dataclass(frozen=True)
class Source:
    """One packaging of a data set: the files, and the reader that understands them."""

    files: tuple[FileEntry, ...]
    reader: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """One registered data set.

    `files` is upstream's packaging, `alternatives` are others of the same samples: the reader understands them all, so
    that the specification of a data set, and with it every key in the workflow, does not depend on where the files
    come from.
    """

    id: str
    title: str
    files: tuple[FileEntry, ...]
    reader: str
    expected: Mapping[str, Any]
    licence: str
    citation: str
    homepage: str
    alternatives: tuple[tuple[FileEntry, ...], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    resize: Mapping[str, Any] | None = None
    note: str = ""
    package: str = ""
    """The package that brings it; empty for mklearn's own."""

    def sources(self, mirror: str | None = None) -> list[Source]:
        """The packagings in the order in which to try them: those that the mirror has first.

        Parameters
        ----------
        mirror : str, optional
            Folder or URL of a mirror; by default the environment variable MKLEARN_MIRROR. Folders are looked into;
            a mirror on the web is taken to have every file that the registry says mirrors have.
        """
        mirror = mirror or os.environ.get(MIRROR_VARIABLE) or None
        every = [Source(files, self.reader, self.options) for files in (self.files, *self.alternatives)]
        if mirror is None:
            return every
        return sorted(every, key=lambda source: not all(_on_mirror(file, mirror) for file in source.files))

    def source(self, mirror: str | None = None) -> Source:
        """The packaging to use: the first of :meth:`sources`."""
        return self.sources(mirror)[0]

    def n_samples(self, selection: Mapping[str, Any]) -> int:
        """About how many samples a selection leaves (keys of ``SELECTION``): to plan by, before anything is read."""
        total = int(self.expected["n_classes"])
        n_classes = len(selection.get("classes") or ()) or total - len(selection.get("exclude_classes") or ())
        n_classes = min(n_classes, selection.get("first_classes") or n_classes)
        each = selection.get("per_class") or self.expected["n_samples"] / total
        return round(n_classes * each)

    def spec(self) -> dict[str, Any]:
        """What :func:`mklearn.datasets.read.read_dataset` needs, as a plain dict of builtin types."""
        return {
            "registered": self.id,
            "reader": self.reader,
            "options": _plain(self.options),
            "resize": None if self.resize is None else _plain(self.resize),
            "expected": _plain(self.expected),
        }


@cache
def registry() -> dict[str, Entry]:
    """Return all registered data sets by id: mklearn's own and those of installed packages.

    An entry point of group ``mklearn.datasets`` names a YAML file in a package: ``faces = "my_package:registry.yaml"``.

    Raises
    ------
    ConfigError
        The file of a package can't be read, or has a data set that is registered already.
    """
    text = package_files("mklearn.datasets").joinpath("registry.yaml").read_text(encoding="utf-8")
    found = {name: _entry(name, fields) for name, fields in yaml.safe_load(text).items()}
    for point in entry_points()["datasets"]:
        package = package_of(point)
        try:
            text = package_files(point.module).joinpath(point.attr).read_text(encoding="utf-8")
            more = {name: _entry(name, fields | {"package": package}) for name, fields in yaml.safe_load(text).items()}
        except Exception as error:  # whatever importing the package or reading its file raises
            raise ConfigError(f"package {package}: data sets of {point.value} can't be read: {error}") from error
        for name in found.keys() & more.keys():
            raise ConfigError(f"package {package}: data set {name!r} is registered already.")
        found |= more
    return found


def entry(name: str) -> Entry:
    """The registered data set `name`.

    Raises
    ------
    ConfigError
        There is none; the message lists those that there are, and the nearest.
    """
    known = registry()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"data set {name!r} is not registered.{hint} Registered: {', '.join(known)}")
    return known[name]


def dataset_spec(config: Mapping[str, Any]) -> dict[str, Any]:
    """The reading specification of a data set as a study names it.

    Parameters
    ----------
    config : dict
        A data set of the study's configuration as plain dict: ``kind`` is "registered" (with ``name``; optionally
        ``resize`` and the keys of ``SELECTION``), "image_folder" (``path``, ``colour``, ``resize``), "feature_tables"
        (``tables``, ``labels``, ``id_column``, ``label_column``) or "precomputed" (``matrices``, ``measure``,
        ``labels``, ``id_column``, ``label_column``).

    Returns
    -------
    dict
        Keys ``reader``, ``options`` and ``resize`` (or None); for own data ``paths`` (name -> path), for registered
        ones ``registered`` (id), ``expected`` and, where given, the keys of ``SELECTION``.

    Raises
    ------
    ConfigError
        An unknown kind or name, or a selection that the data set can't fulfil as far as the registry tells.
    """
    given = _plain(config)
    kind = given.pop("kind", "registered")
    if kind == "registered":
        if "name" not in given:
            raise ConfigError("a registered data set needs its name in the registry")
        known = entry(given["name"])
        mistakes = selection_mistakes(known, given)
        if mistakes:
            raise ConfigError(f"data set {known.id}: " + " ".join(f"{key}: {text}" for key, text in mistakes))
        spec = known.spec()
        if "resize" in given:
            spec["resize"] = given["resize"]
            # the registry speaks of its own size
            spec["expected"] = {key: value for key, value in spec["expected"].items() if key != "image_shape"}
        spec.update({key: given[key] for key in SELECTION if key in given})
        return spec
    if kind == "image_folder":
        return {
            "reader": kind,
            "options": {"colour": given.get("colour", "grey")},
            "paths": {"root": given["path"]},
            "resize": given.get("resize"),
        }
    if kind in ("feature_tables", "precomputed"):
        tables = given["tables"] if kind == "feature_tables" else given["matrices"]
        options = {key: given[key] for key in ("id_column", "label_column", "measure") if key in given}
        if "labels" in given:
            options["labels"] = LABELS_KEY
            tables = {**tables, LABELS_KEY: given["labels"]}
        return {"reader": kind, "options": options, "paths": tables, "resize": None}
    raise ConfigError(f"data set kind {kind!r} is unknown: registered, image_folder, feature_tables, precomputed")


def selection_mistakes(known: Entry, given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What of a selection can't be had, as (key, sentence), as far as the registry tells without reading the data.

    `given` may be a study's raw mapping: values of a wrong type, which the models report, are passed over.
    """
    expected, mistakes = known.expected, []
    chosen, left_out = (_of(list, given.get(key)) for key in ("classes", "exclude_classes"))
    first, per_class, draw = (_of(int, given.get(key)) for key in ("first_classes", "per_class", "draw"))
    available = len(chosen) if chosen else expected["n_classes"] - len(left_out or ())
    if first is not None and first > available:
        mistakes.append(("first_classes", f"{first} asked for, but there are only {available} to choose from."))
    smallest = expected.get("smallest_class", expected.get("per_class"))
    # Without a draw, classes with fewer are kept whole; of some of the classes only the reader knows the sizes.
    whole = not chosen and not left_out and first is None
    if draw is not None and per_class is not None and smallest is not None and whole and per_class > smallest:
        text = f"{per_class} can't be drawn of every class: the smallest has {smallest} samples."
        mistakes.append(("per_class", text))
    return mistakes


def _of(kind: type, value: Any) -> Any:
    return value if isinstance(value, kind) else None


# Key of the labels file among the paths of own tables; no descriptor or kernel can be called so (ids are lower case).
LABELS_KEY = "LABELS"


def local_folder(mirror: str) -> Path | None:
    """The folder of a mirror given as a path or a file:// URL; None for a mirror on the web."""
    parts = urlsplit(mirror)
    if parts.scheme in ("http", "https"):
        return None
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return Path(mirror).expanduser()


def _on_mirror(file: FileEntry, mirror: str) -> bool:
    if file.mirror is None:
        return False
    folder = local_folder(mirror)
    return folder is None or (folder / file.mirror).is_file()


def _entry(name: str, fields: dict[str, Any]) -> Entry:
    files, alternatives = fields.pop("files"), fields.pop("alternatives", [])
    return Entry(
        id=name,
        files=tuple(map(_file, files)),
        alternatives=tuple(tuple(map(_file, packaging)) for packaging in alternatives),
        **fields,
    )


def _file(fields: dict[str, Any]) -> FileEntry:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    return FileEntry(**values)


def _plain(value: Any) -> Any:
    """A copy in builtin types that JSON and Snakemake's params keep, without empty fields."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value

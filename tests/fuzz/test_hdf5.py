"""HDF5 files of any structure: links, storage elsewhere, filters, types and shapes, read as they are or a sentence."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import strategies as st
from tests.fuzz.test_tables import IDS, LABELS, N, X
from tests.fuzz.trials import a_sentence, run_trials

from mklearn.study.data.readers import feature_tables

Make = Callable[[h5py.Group, str, np.ndarray, str], None]


def plain(**options: Any) -> Make:
    return lambda file, name, values, _: file.create_dataset(name, data=values, **options)


def stored(dtype: Any) -> Make:
    """In another type: it holds these numbers or text, or is refused."""
    return lambda file, name, values, _: file.create_dataset(name, data=np.asarray(values).astype(dtype))


def linked(file: h5py.Group, name: str, values: np.ndarray, _: str) -> None:
    file[f"elsewhere/{name}"] = values
    file[name] = h5py.SoftLink(f"/elsewhere/{name}")


def twice(file: h5py.Group, name: str, values: np.ndarray, _: str) -> None:
    file[f"elsewhere/{name}"] = values
    file[name] = file[f"elsewhere/{name}"]


def virtual(file: h5py.Group, name: str, values: np.ndarray, other: str) -> None:
    layout = h5py.VirtualLayout(np.shape(values), "f8")
    layout[...] = h5py.VirtualSource(other, "X", np.shape(values))
    file.create_virtual_dataset(name, layout)


def empty(file: h5py.Group, name: str, _: np.ndarray, __: str) -> None:
    file[name] = h5py.Empty("f8")


def references(file: h5py.Group, name: str, values: np.ndarray, _: str) -> None:
    file[f"elsewhere/{name}"] = values
    file.create_dataset(name, data=[file[f"elsewhere/{name}"].ref] * len(values), dtype=h5py.ref_dtype)


def claimed(*shape: int) -> Make:
    return lambda file, name, _, __: file.create_dataset(name, shape, "f8", chunks=(1,) * len(shape))


def group(file: h5py.Group, name: str, values: np.ndarray, _: str) -> None:
    file[f"{name}/values"] = values


def loop(file: h5py.Group, name: str, values: np.ndarray, _: str) -> None:
    file[name] = values
    file["loop"] = file["/"]


def nullable(file: h5py.Group, name: str, values: np.ndarray, _: str) -> None:
    """Store text as anndata 0.13 does."""
    if values.dtype != object:
        file[name] = values
        return
    file[f"{name}/values"], file[f"{name}/mask"] = values, np.zeros(len(values), dtype=bool)
    file[name].attrs["encoding-type"] = "nullable-string-array"


SAME: dict[str, Make] = {
    "plain": plain(), "gzip": plain(compression="gzip", shuffle=True), "checksum": plain(fletcher32=True),
    "lzf": plain(compression="lzf"), "unlimited": plain(maxshape=None, chunks=True), "soft link": linked,
    "two names": twice, "loop": loop, "nullable": nullable,
}  # fmt: skip
"""Ways to store the same values: they must be read."""
OTHER: dict[str, Make] = {
    "int8": stored("i1"), "half": stored("f2"), "big-endian": stored(">f8"), "complex": stored("c16"),
    "text": stored("S8"), "records": stored([("a", "f8"), ("b", "f8")]), "integers": stored("u8"),
    "dangling": lambda file, name, _, __: file.__setitem__(name, h5py.SoftLink("/nowhere")),
    "itself": lambda file, name, _, __: file.__setitem__(name, h5py.SoftLink(f"{file.name}/{name}")),
    "external link": lambda file, name, _, other: file.__setitem__(name, h5py.ExternalLink(other, "X")),
    "external storage": lambda file, name, values, other: file.create_dataset(
        name, np.shape(values), "f8", external=[(other, 0, 8 * np.size(values))]
    ),
    "virtual": virtual, "nothing": empty, "scalar": lambda file, name, _, __: file.__setitem__(name, 1.0),
    "references": references, "group": group, "huge": claimed(N, 10**12), "long": claimed(10**12, 3),
    "no columns": claimed(N, 0), "three axes": claimed(N, 3, 2), "no rows": claimed(0, 3),
}  # fmt: skip
PLACES = ("X", "obs/_index", "obs/label", "var/_index", "obsm/pca", "uns/unused")


@pytest.fixture
def elsewhere(tmp_path: Path) -> list[str]:
    """A pipe, a device and a file that HDF5 could open: none of them may be."""
    os.mkfifo(tmp_path / "pipe")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["X"] = X
    return [str(tmp_path / "pipe"), "/dev/zero", str(tmp_path / "other.h5"), str(tmp_path / "gone.h5")]


def write(path: Path, makes: dict[str, str], other: str) -> None:
    values = {
        "X": X, "obs/_index": IDS.astype(object), "obs/label": LABELS.astype(object),
        "var/_index": np.array(["f0", "f1", "f2"], dtype=object), "obsm/pca": X, "uns/unused": X,
    }  # fmt: skip
    with h5py.File(path, "w") as file:
        for place, way in makes.items():
            (SAME | OTHER)[way](file, place, values[place], other)
        for table in ("obs", "var"):
            file.require_group(table).attrs["_index"] = "_index"


def test_structures_of_annotated_data(tmp_path: Path, elsewhere: list[str]) -> None:
    path = tmp_path / "one.h5ad"
    taken = 0

    def trial(drawn: tuple[dict[str, str], str]) -> None:
        nonlocal taken
        makes, other = drawn
        try:
            write(path, makes, other)
        except (TypeError, ValueError, OSError):
            return  # h5py has no such file
        signal.alarm(60)  # a pipe would be waited for without processor time
        with a_sentence():
            samples = feature_tables.read({"one": path})
            taken += 1
            assert not {"external link", "external storage", "virtual"} & set(makes.values()), "another file was opened"
            if set(makes.values()) <= set(SAME):
                assert samples.ids.tolist() == IDS.tolist()
                assert samples.classes[samples.y].tolist() == LABELS.tolist()
                np.testing.assert_array_equal(samples.tables["one"], X)
        signal.alarm(0)

    usual, unusual = st.sampled_from(sorted(SAME)), st.sampled_from(sorted(OTHER))
    whole = st.fixed_dictionaries(dict.fromkeys(PLACES, usual))
    broken = st.tuples(whole, st.dictionaries(st.sampled_from(PLACES), unusual, max_size=2)).map(
        lambda both: {**both[0], **both[1]}
    )
    run_trials(150, st.tuples(broken, st.sampled_from(elsewhere)), trial)
    assert taken

"""What is checked of a model's archive: sizes before it is read, and arrays that compiled code indexes after that.

skops constructs no class that is not trusted, but believes what the file says of sizes, references and arrays. LIBSVM,
scipy.sparse and the nearest neighbours of scikit-learn then read, and write, where indices of the file tell them to.
"""

from __future__ import annotations

import io
import json
import math
import sys
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

SCHEMA = "schema.json"
MOST_PACKED = 100
"""Unpacked size over packed size of a model; small ones have 4, and text alone 17."""
MOST_NODES = 2_000_000
"""Objects of a model, each counted as often as others refer to it: a model with 1,000 kernels has some 100,000."""
SCIKIT_LEARN = (
    "sklearn.calibration",
    "sklearn.compose",
    "sklearn.decomposition",
    "sklearn.discriminant_analysis",
    "sklearn.dummy",
    "sklearn.feature_selection",
    "sklearn.impute",
    "sklearn.linear_model",
    "sklearn.multiclass",
    "sklearn.naive_bayes",
    "sklearn.neighbors",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "sklearn.svm",
)
"""Packages of scikit-learn whose estimators compute by NumPy, or are checked here."""


def check_archive(archive: bytes) -> None:
    """Raise ValueError for an archive that takes far more memory or time than its size, or has unchecked objects."""
    with zipfile.ZipFile(io.BytesIO(archive)) as given:
        _check_members(given, len(archive))
        schema = json.loads(given.read(SCHEMA))
    if (count := _count(schema, {})) > MOST_NODES:
        raise ValueError(f"it has {count:,} objects; at most {MOST_NODES:,} are read")
    for module in _modules(schema):
        if module.startswith("sklearn.") and not module.startswith(SCIKIT_LEARN):
            raise ValueError(f"it holds an object of {module}, whose arrays can't be checked")


def _check_members(given: zipfile.ZipFile, size: int) -> None:
    unpacked = sum(member.file_size for member in given.infolist())
    if unpacked > MOST_PACKED * size:
        raise ValueError(f"it unpacks to {unpacked} bytes, far more than its own {size}")
    for member in given.infolist():
        if member.filename.endswith(".npz"):
            with given.open(member) as stream, zipfile.ZipFile(io.BytesIO(stream.read())) as inner:
                _check_members(inner, member.file_size)
        elif member.filename.endswith(".npy"):
            with given.open(member) as stream:
                _check_array(stream, member)


def _check_array(stream: Any, member: zipfile.ZipInfo) -> None:
    """Raise ValueError unless an array has the size that its header tells."""
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    version = np.lib.format.read_magic(stream)
    if version not in read:
        raise ValueError(f"{member.filename} has version {version} of NumPy's format")
    shape, _, dtype = read[version](stream)
    if stream.tell() + math.prod(shape) * dtype.itemsize != member.file_size:
        raise ValueError(f"{member.filename} has another size than its header tells")


def _count(node: Any, known: dict[Any, int]) -> int:
    """Count objects, each as often as it is referred to: skops looks at it as often."""
    if isinstance(node, list):
        return sum(_count(entry, known) for entry in node)
    if not isinstance(node, dict):
        return 0
    name = node.get("__id__") if "__loader__" in node else None
    if name in known:
        if known[name] == 0:
            raise ValueError("an object of it holds itself")
        return known[name]
    if name is not None:
        known[name] = 0  # until its parts are counted
    count = 1 + sum(_count(entry, known) for entry in node.values())
    if name is not None:
        known[name] = count
    return count


def _modules(node: Any) -> Iterator[str]:
    """Yield the modules of all objects; their classes are those of skops's list and ours."""
    if isinstance(node, dict) and isinstance(module := node.get("__module__"), str):
        yield module
    for entry in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _modules(entry)


def check_held(held: Any) -> None:
    """Raise ValueError for arrays, of anything that was loaded, that would be read outside their bounds."""
    from scipy.sparse import issparse

    machines = _imported("sklearn.svm", "SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")
    neighbours = _imported("sklearn.neighbors", "KNeighborsClassifier")
    seen: set[int] = set()
    waiting = [held]
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, str | bytes | int | float | type(None)):
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += value
        elif isinstance(value, np.ndarray):
            waiting += value.ravel().tolist() if value.dtype == object else []
        elif issparse(value):
            _check_sparse(value)
        elif hasattr(value, "__dict__"):
            if isinstance(value, machines):
                _check_libsvm(value)
            if isinstance(value, neighbours):
                _check_neighbours(value)
            waiting += vars(value).values()
        elif hasattr(type(value), "__slots__"):
            waiting += [getattr(value, name) for name in type(value).__slots__ if hasattr(value, name)]


def _imported(module: str, *names: str) -> tuple[type, ...]:
    """Return classes of a module; none if nothing has imported it, so that there are no objects of them."""
    return tuple(getattr(sys.modules[module], name) for name in names) if module in sys.modules else ()


def _check_sparse(matrix: Any) -> None:
    if matrix.format not in ("csr", "csc"):
        raise ValueError(f"it holds a sparse matrix of format {matrix.format}: csr and csc are read")
    matrix.check_format(full_check=True)


def _check_libsvm(machine: Any) -> None:
    """Check what LIBSVM gets without a look: counts of support vectors, their positions, and coefficients."""
    from sklearn.svm import SVC, NuSVC

    if not isinstance(machine, SVC | NuSVC) or "_impl" in vars(machine) or machine._sparse or callable(machine.kernel):
        raise ValueError(f"it holds a {type(machine).__name__} that is not read: SVC and NuSVC on dense samples are")
    counts, support = machine._n_support, machine.support_
    n_classes, n_support = len(counts), len(support)
    pairs = n_classes * (n_classes - 1) // 2
    precomputed = machine.kernel == "precomputed"
    rows, columns = machine.shape_fit_
    width = machine.support_vectors_.shape
    right = (
        n_classes == len(machine.classes_) >= 2
        and min(counts) >= 0
        and sum(counts.tolist()) == n_support
        and counts.ndim == support.ndim == 1
        and machine._dual_coef_.shape == (n_classes - 1, n_support)
        and machine._intercept_.shape == (pairs,)
        and {machine._probA.shape, machine._probB.shape} <= {(0,), (pairs,)}
        and machine._probA.shape == machine._probB.shape
        and machine.n_features_in_ == columns
        and (width[0] == 0 if precomputed else width == (n_support, columns))
        and (n_support == 0 or 0 <= support.min() <= support.max() < (columns if precomputed else rows))
    )
    if not right:
        raise ValueError("the support vectors of a machine do not match its coefficients")


def _check_neighbours(neighbours: Any) -> None:
    """Check the classes of training samples: votes are counted at these positions."""
    codes, classes = neighbours._y, neighbours.classes_
    several = isinstance(classes, list)
    n_outputs = len(classes) if several else 1
    columns = codes.reshape(len(codes), -1)
    right = len(codes) == neighbours.n_samples_fit_ == len(neighbours._fit_X) and columns.shape[1] == n_outputs
    for column, labels in zip(columns.T, classes if several else [classes], strict=False):
        right = right and 0 <= column.min() <= column.max() < len(labels)
    if not right or neighbours._fit_X.shape[1] != neighbours.n_features_in_:
        raise ValueError("the training samples of a nearest-neighbour classifier do not match its classes")

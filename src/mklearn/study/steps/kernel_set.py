"""Step: the manifest of a kernel set. Fits depend on its content: rebuilt equal matrices cause no new fits."""

from __future__ import annotations

from pathlib import Path

from mklearn.contract.specs import KernelSetSpec
from mklearn.errors import DataError
from mklearn.study.artefacts import read_arrays, write_record
from mklearn.study.provenance import stamp


def kernel_set(matrices: list[Path], manifest: Path, *, spec: KernelSetSpec, code: list[Path] | None = None) -> None:
    """Write the names and digests of the matrices of a kernel set.

    Raises
    ------
    DataError
        Matrices of different samples.
    """
    entries = {}
    first: list[str] | None = None
    for name, path in zip(spec.pairwise, matrices, strict=True):
        held = read_arrays(path, ("ids", "sha256"))
        ids = held["ids"].tolist()
        if first is not None and ids != first:
            raise DataError(f"{path} and {matrices[0]} hold different samples; delete both and run again.")
        first = ids
        entries[name] = {"sha256": str(held["sha256"])}
    digests = {name: entry["sha256"] for name, entry in entries.items()}
    content = {
        "kernels": spec.kernels,
        "matrices": entries,
        "n_samples": len(first or []),
        # digests of the numbers, not of the files: rebuilding equal matrices gives the same manifest
        "provenance": stamp(spec.as_dict(), {"matrices": digests}, code or []),
    }
    write_record(manifest, content)

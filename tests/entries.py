"""Entries of studies by their kinds, and what their rows name."""

from typing import Any

from mklearn.rows import Row, load
from mklearn.study.entries import Descriptor, Kernel, Protocol
from mklearn.study.method import Method


def descriptor(kind: str, **fields: Any) -> Descriptor:
    return Descriptor.model_validate({"kind": kind, **fields})


def kernel(kind: str, **fields: Any) -> Kernel:
    return Kernel.model_validate({"kind": kind, **fields})


def method(kind: str, **fields: Any) -> Method:
    return Method.model_validate({"kind": kind, **fields})


def protocol(kind: str, **fields: Any) -> Protocol:
    return Protocol.model_validate({"kind": kind, **fields})


def implementation(row: Row) -> Any:
    return load(row.implementation)

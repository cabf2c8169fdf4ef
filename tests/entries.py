"""Entries of studies by their kinds, and what their rows name."""

from typing import Any

from mklearn.rows import Row, load
from mklearn.study.entries import Descriptor, Kernel, Protocol
from mklearn.study.method import Method


def descriptor(kind: str, **given: Any) -> Descriptor:
    return Descriptor.model_validate({"kind": kind, **given})


def kernel(kind: str, **given: Any) -> Kernel:
    return Kernel.model_validate({"kind": kind, **given})


def method(kind: str, **given: Any) -> Method:
    return Method.model_validate({"kind": kind, **given})


def protocol(kind: str, **given: Any) -> Protocol:
    return Protocol.model_validate({"kind": kind, **given})


def implementation(row: Row) -> Any:
    return load(row.implementation)

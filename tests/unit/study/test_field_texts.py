"""Texts of fields: of the model itself, inherited, and lost where a field is replaced."""

from __future__ import annotations

from mklearn.study.schema import field_texts
from mklearn.study.specs.model import Strict


class Parent(Strict):
    """Not the text of a field."""

    first: int = 1
    """Of the parent,
    in two lines."""
    second: int = 2
    """Of the parent."""
    third: int = 3


class Child(Parent):
    second: int = 4
    fourth: int = 5
    """Of the child."""


def test_own_inherited_and_replaced_fields() -> None:
    assert field_texts(Parent) == {"first": "Of the parent,\nin two lines.", "second": "Of the parent."}
    assert field_texts(Child) == {"first": "Of the parent,\nin two lines.", "fourth": "Of the child."}


def test_a_model_made_without_a_source_has_none() -> None:
    made = type("Made", (Strict,), {"__annotations__": {"field": int}, "__module__": "nowhere"})
    assert field_texts(made) == {}

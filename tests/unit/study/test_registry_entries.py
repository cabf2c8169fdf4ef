"""The registry: true to the code, and what its entries say of parameters."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from mklearn.cards import REGISTRY, MethodCard, own_entries
from mklearn.contract.extensions import own_registries
from mklearn.errors import ConfigError
from mklearn.study.config.generated_models import method_model
from mklearn.study.config.registry_entries import CARDS, CORE, entry_of, registry_of, write_registry
from mklearn.subspace import KernelFDA

PACKAGES = [CORE, *([name] for name in sorted({p.module for sort in CARDS for p in own_registries(sort)}))]
"""The packages of each registry file: mklearn's core, and its papers."""


@pytest.mark.parametrize("packages", PACKAGES, ids=lambda packages: packages[-1])
def test_the_file_is_what_the_code_says(packages: list[str], tmp_path: Path) -> None:
    """Run ``make schema`` and commit the result if this fails."""
    path = REGISTRY if packages is CORE else Path(str(files(packages[0]).joinpath(REGISTRY.name)))
    write_registry(tmp_path / "registry.json", packages)
    assert path.read_text(encoding="utf-8") == (tmp_path / "registry.json").read_text(encoding="utf-8")


def test_every_paper_declares_what_it_has() -> None:
    """An entry point for each sort with entries: without it the core would not find them."""
    for (package,) in PACKAGES[1:]:
        declared = {sort for sort in CARDS if any(point.module == package for point in own_registries(sort))}
        assert declared == {sort for sort, entries in registry_of([package]).items() if entries}, package


def test_every_parameter_is_described() -> None:
    silent = {
        (kind, name)
        for sort in CARDS
        for kind, entry in own_entries(sort).items()
        for name, field in entry.get("fields", {}).items()
        if not field["about"] or field["about"].startswith("As for")
    }
    assert not silent


class Weighted(KernelFDA):
    """Discriminant with a weight.

    Parameters
    ----------
    ridge, scaling
        Both in one entry,
        of two lines.
    weight : float or "auto"
        A *weight*.

    Attributes
    ----------
    weight : int
        Another thing.
    """

    _parameter_constraints = {**KernelFDA._parameter_constraints, "weight": ["array-like"]}  # noqa: RUF012

    def __init__(self, ridge: float = 1.0, scaling: str = "unit", weight: float = 2.0, kernels: Any = "x") -> None:
        super().__init__(ridge=ridge, scaling=scaling, kernels=kernels)  # type: ignore[arg-type]
        self.weight = weight


def described(**told: Any) -> type[Weighted]:
    made = type("Weighted", (Weighted,), {"__doc__": Weighted.__doc__, "__init__": Weighted.__init__})
    return MethodCard(kind="weighted", title="Weighted", **told)(made)


def test_a_card_says_what_constraints_do_not() -> None:
    entry = entry_of(
        "methods", described(valid={"weight": [None, *Weighted._parameter_constraints["ridge"]]}, tuned=["ridge"])
    )
    assert entry["about"] == "Discriminant with a weight."
    assert entry["fields"]["ridge"] == {
        "valid": {"type": "number", "minimum": 0}, "tuned": True, "about": "Both in one entry, of two lines.",
        "default": 1.0,
    }  # fmt: skip
    assert entry["fields"]["weight"]["about"] == "A *weight*."
    model: Any = method_model(entry)
    assert model(kind="weighted", ridge=[1, 2], weight=None).grid() == {"ridge": [1.0, 2.0]}
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        model(kind="weighted", weight=-1.0)


def test_what_a_study_can_not_name_is_left_out_by_the_card() -> None:
    with pytest.raises(ConfigError, match="Weighted: parameter 'weight' has no valid values that a study can name"):
        entry_of("methods", described())
    assert "weight" not in entry_of("methods", described(library_only=["weight"]))["fields"]


def test_a_card_is_not_inherited() -> None:
    with pytest.raises(ConfigError, match=r"Weighted has no mklearn\.cards\.MethodCard"):
        entry_of("methods", Weighted)

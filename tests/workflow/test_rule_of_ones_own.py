"""The rule and the script of docs/maintainers.md, in a copy of a finished checkout."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.test_documentation import blocks
from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.full


def test_it_runs_and_reruns_with_its_script(
    finished: Checkout, copy_of: Callable[[Checkout], Checkout], repository: Path
) -> None:
    checkout = copy_of(finished)
    rule, script = blocks(repository / "docs" / "maintainers.md", "python")
    (checkout.folder / "workflow" / "rules" / "tsne.smk").write_text(rule, encoding="utf-8")
    (checkout.folder / "workflow" / "scripts" / "tsne.py").write_text(script, encoding="utf-8")
    checkout.edit("Snakefile", '\n\ninclude: "workflow/rules/tsne.smk"\n')
    checkout.said("snakemake", "--cores", "2", "all_tsne")
    assert len(list((checkout.folder / "results" / "smoke" / "tsne").rglob("*.csv"))) == 2
    assert checkout.planned("all_tsne") == {}
    checkout.edit("workflow/scripts/tsne.py")
    assert checkout.planned("all_tsne") == {"tsne": 2, "all_tsne": 1}

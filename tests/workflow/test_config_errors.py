"""A study with mistakes: every mistake is named with what is expected, without a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.workflow.conftest import Checkout

FIVE_MISTAKES = """\
study: smoke
sead: 1
datasets: [digitz]
descriptors: {hog: {kind: hog, cel: 4}}
methods:
  mkl: {kind: mkl_dr, beta_step: exactly, kernels: [sift]}
"""
EXPECTED = [
    "sead: unknown key 'sead'. Did you mean 'seed'?",
    "datasets.digitz: there is no registered data set 'digitz'. Did you mean 'digits'?",
    "descriptors.hog.cel: unknown key 'cel'. Did you mean 'cell'?",
    "methods.mkl.beta_step: invalid value 'exactly'. Did you mean 'exact'? Expected one of: central_path, dnn, exact, "
    "sdp.",
    "methods.mkl.kernels: there is no kernel 'sift'. Expected: hog.",
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Checkout:
    """A checkout for all tests: each writes its own study file, and nothing is run."""
    return Checkout(tmp_path_factory.mktemp("mistakes") / "checkout", repository)


@pytest.mark.parametrize(
    "words", ["snakemake --cores 1 --dry-run", "mklearn validate config.yaml"], ids=["snakemake", "mklearn"]
)
def test_five_mistakes_print_five_errors(checkout: Checkout, words: str) -> None:
    checkout.write(FIVE_MISTAKES)
    said = checkout.said(*words.split(), code=1)
    assert "has 5 mistakes" in said
    for sentence in EXPECTED:
        assert sentence in said
    assert "Traceback" not in said
    assert 'File "' not in said.split("5 mistakes")[1]


@pytest.mark.parametrize("words", ["snakemake --cores 1 --dry-run", "mklearn run"])
def test_a_file_that_yaml_can_not_read(checkout: Checkout, words: str) -> None:
    """With which Snakemake's own reader ends in a traceback; unit tests have more."""
    (checkout.folder / "config.yaml").write_bytes("study: größe\n".encode("utf-16"))
    said = checkout.said(*words.split(), code=1)
    assert "save it as UTF-8" in said.split("mklearn: config.yaml: ")[1]
    assert "Traceback" not in said

"""A study with mistakes: every mistake is named with what is expected, without a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.workflow.conftest import Checkout

from mklearn.errors import ConfigError
from mklearn.study.reading import read_study

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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("study: [", "is not valid YAML"),
        ("study: a\nseed: 1\nseed: 2\n", "the key 'seed' appears twice"),
        ("- a\n- b\n", "a study is a mapping"),
        ("", "a study is a mapping"),
    ],
)
def test_files_that_are_not_a_study(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=f"{path}.*{sentence}"):
        read_study(path)

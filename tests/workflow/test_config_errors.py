"""A study with mistakes: every mistake is named with what is expected, without a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
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


UNREADABLE = {
    "utf-16": ("study: größe\n".encode("utf-16"), "save it as UTF-8"),
    "bomb": (
        b"a0: &a0 [x]\n" + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b"*a%d," % (n - 1) * 9) for n in range(1, 9)),
        "values, with every alias written out",
    ),
}
"""Files with which Snakemake's own reader ends in a traceback, or after minutes; unit tests have more."""
KINDS = ["utf-16", pytest.param("bomb", marks=pytest.mark.full)]


@pytest.mark.parametrize("words", ["snakemake --cores 1 --dry-run", "mklearn run"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_yaml_can_not_read(checkout: Checkout, kind: str, words: str) -> None:
    content, sentence = UNREADABLE[kind]
    (checkout.folder / "config.yaml").write_bytes(content)
    said = checkout.said(*words.split(), code=1)
    assert sentence in said.split("mklearn: config.yaml: ")[1]
    assert "Traceback" not in said


def test_make_checks_the_file_before_snakemake_reads_it(repository: Path, tmp_path: Path) -> None:
    content, sentence = UNREADABLE["bomb"]
    (tmp_path / "bad.yaml").write_bytes(content)
    (tmp_path / "ready").touch()  # in place of the stamp of an environment, which make would set up again
    done = subprocess.run(
        ["make", "run", f"STUDY={tmp_path / 'bad.yaml'}", f"BIN={Path(sys.executable).parent}",
         f"READY={tmp_path / 'ready'}", "UV=Makefile"],
        cwd=repository, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": "src"},
    )  # fmt: skip
    assert done.returncode != 0
    assert f"mklearn: {tmp_path / 'bad.yaml'}: " in done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr

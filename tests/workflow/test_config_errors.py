"""A study with mistakes: every mistake is named with what is expected, without a traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest
import yaml
from tests.workflow.conftest import SMOKE, Checkout

from mklearn.errors import ConfigError
from mklearn.study.reading import check_study

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


@pytest.mark.parametrize("way", ["snakemake", "validate"])
def test_five_mistakes_print_five_errors(checkout: Checkout, way: str) -> None:
    path = checkout.write(FIVE_MISTAKES)
    command = (
        checkout.command("--cores", "1", "--dry-run")
        if way == "snakemake"
        else [sys.executable, "-m", "mklearn", "validate", str(path)]
    )
    done = subprocess.run(command, cwd=checkout.folder, env=checkout.environment, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "has 5 mistakes" in said
    for sentence in EXPECTED:
        assert sentence in said
    assert "Traceback" not in said
    assert 'File "' not in said.split("5 mistakes")[1]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"datasets": []}, "datasets"),
        ({"datasets": {"mine": {"kind": "image_folder"}}}, "datasets.mine.path: is required but missing"),
        ({"seed": -1}, "seed: invalid value -1: should be greater than or equal to 0"),
        ({"seed": "one"}, "seed: invalid value 'one': should be a valid integer"),
        ({"study": "My Study"}, "study: invalid name 'My Study'"),
        (
            {"kernels": {"k": {"kind": "gaussian", "bandwidth": 0}}},
            "k.bandwidth: invalid value 0: should be greater than 0",
        ),
        ({"kernels": {"k": {"kind": "gaussian", "descriptor": "hog"}}}, "there is no descriptor 'hog'"),
        ({"evaluation": {"reference": "mean"}}, "evaluation.reference: there is no method 'mean'"),
        ({"protocols": {"p": {"kind": "k_folds"}}}, "unknown kind 'k_folds'. Did you mean 'k_fold'?"),
        ({"published": [{"dataset": "digits", "method": "mkl", "value": 120, "source": "x"}]}, "published[0].value"),
        ({"datasets": {"digits": {"resize": {"shape": [4, 4], "pixels": 9}}}}, "expected either shape"),
    ],
)
def test_each_mistake_has_its_sentence(change: dict, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_study(SMOKE | change)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("study: [", "is not valid YAML"),
        ("study: a\nseed: 1\nseed: 2\n", "the key 'seed' appears twice"),
        ("- a\n- b\n", "a study is a mapping"),
        ("", "a study is a mapping"),
    ],
)
def test_files_that_are_not_a_study(checkout: Checkout, text: str, sentence: str) -> None:
    path = checkout.write(text, "broken.yaml")
    done = subprocess.run(
        [sys.executable, "-m", "mklearn", "validate", str(path)], env=checkout.environment, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert sentence in done.stderr
    assert str(path) in done.stderr
    assert "Traceback" not in done.stderr


def test_short_forms_of_data_sets_are_the_same() -> None:
    forms = ["digits", ["digits"], {"digits": None}, {"digits": {"name": "digits"}}]
    assert len({check_study(yaml.safe_load(yaml.safe_dump(SMOKE | {"datasets": form}))).datasets["digits"].kind
                for form in forms}) == 1  # fmt: skip

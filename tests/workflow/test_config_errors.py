"""A study with mistakes: every mistake is named with what is expected, without a traceback."""

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


def test_five_mistakes_and_a_file_that_yaml_can_not_read(checkout: Checkout) -> None:
    """Snakemake's own reader ends with a traceback in the second case; unit tests have more of both."""
    checkout.write(FIVE_MISTAKES)
    said = checkout.said("snakemake", "--cores", "1", "--dry-run", code=1)
    for sentence in ("has 5 mistakes", *EXPECTED):
        assert sentence in said
    assert 'File "' not in said.split("5 mistakes")[1]
    (checkout.folder / "config.yaml").write_bytes("study: größe\n".encode("utf-16"))
    unread = checkout.said("snakemake", "--cores", "1", "--dry-run", code=1)
    assert "save it as UTF-8" in unread.split("mklearn: config.yaml: ")[1]
    assert "Traceback" not in said + unread

"""Every artefact says where it came from, and ``explain`` says of each what Snakemake would do with it, and why."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from tests.workflow.conftest import SMOKE, Checkout

from mklearn.study.config.reading import check_study
from mklearn.study.plan.plan import plan_study
from mklearn.study.provenance import file_digest
from mklearn.study.stages.targets import Targets
from mklearn.study.stamps import read_stamp

pytestmark = pytest.mark.full

VERDICT = re.compile(r"^(UP TO DATE|WOULD BE MADE AGAIN|MISSING|NOT PLANNED)", re.MULTILINE)


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """One file of each kind that the smoke study makes, by rule."""
    targets = Targets(plan_study(check_study(SMOKE)))
    dataset, blocks, measure = next(key for key in targets.plan.pairwise if key[1].startswith("blocks"))
    mkl = next(path for path in targets.all_of("fit_scores") if "/mkl-lda" in path)
    return {
        "read": targets.path("samples", dataset=dataset),
        "describe": targets.path("features", dataset=dataset, descriptor=blocks),
        "pairwise": targets.path("pairwise", dataset=dataset, descriptor=blocks, measure=measure),
        "fit": mkl,
        "model": mkl.replace(".parquet", ".npz"),
        "scores": "results/smoke/scores.parquet",
        "predictions": "results/smoke/predictions.parquet",
        "summary": "results/smoke/summary.parquet",
        "run_record": "results/smoke/run.json",
        "report": "results/smoke/report/index.html",
    }


def verdict_of(text: str) -> tuple[str, str]:
    """The verdict and the sentences after it."""
    found = VERDICT.search(text)
    assert found is not None, text
    return found[1], text[found.start() :]


def explained(checkout: Checkout, path: str) -> tuple[str, str]:
    """The verdict and the sentences after it; Snakemake has to plan just what they say."""
    text = checkout.said("mklearn", "explain", path)
    verdict, after = verdict_of(text)
    if verdict != "NOT PLANNED":
        planned = checkout.planned(path)
        rule = re.search(r"made by  rule (\w+)", text)
        assert rule is not None
        first = re.search(r"after other jobs \((.*?)\)", after)
        said = {name: int(count) for count, name in re.findall(r"(\d+) (\w+)", first[1] if first else "")}
        assert planned == (said | {rule[1]: said.get(rule[1], 0) + 1} if verdict != "UP TO DATE" else {}), text
    return verdict, after


# --- stamps


def test_every_file_of_a_finished_study_carries_its_provenance(finished: Checkout) -> None:
    """Specification, code and inputs, whatever the kind of the file; figures and CSV by the file beside them."""
    made = [path for path in (finished.folder / "results").rglob("*") if path.is_file()]
    assert {path.suffix for path in made} == {
        ".npz", ".parquet", ".json", ".html", ".csv", ".md", ".txt", ".svg", ".png",
    }  # fmt: skip
    for path in made:
        stamp = read_stamp(path)
        assert stamp is not None, path
        assert stamp["spec"], path
        assert re.fullmatch("[0-9a-f]{12}", stamp["code"]), path
        made_from_code_alone = path.match("results/cache/data/*")  # scikit-learn brings the digits
        assert bool(stamp["inputs"]) != made_from_code_alone, path


def test_recorded_inputs_are_the_files_that_lie_there(finished: Checkout, files: dict[str, str]) -> None:
    def stamp(rule: str) -> dict[str, Any]:
        found = read_stamp(finished.folder / files[rule])
        assert found is not None
        return found["inputs"]  # type: ignore[no-any-return]

    def digest(rule: str) -> str:
        return file_digest(finished.folder / files[rule])

    assert stamp("describe") == {"samples": digest("read")}
    assert stamp("pairwise") == {"source": digest("describe")}
    assert stamp("run_record") == {"scores": digest("scores")}
    assert stamp("summary") == {"scores": digest("scores"), "predictions": digest("predictions")}
    assert digest("fit") in stamp("scores")["fits"].values()
    assert len(stamp("scores")["fits"]) == 4
    assert stamp("report")["summary"] == digest("summary")


def test_the_record_of_a_run_says_how_to_make_it_again(finished: Checkout) -> None:
    import json

    run = json.loads((finished.folder / "results/smoke/run.json").read_text(encoding="utf-8"))
    assert run["command"].endswith("--cores 2")
    assert run["seed"] == 0
    assert run["source"] == "config.yaml"
    assert run["config"]["methods"].keys() == SMOKE["methods"].keys()
    assert {"python", "mklearn", "numpy", "scipy", "scikit-learn", "snakemake", "numba"} <= run["versions"].keys()
    assert {"system", "processor", "cores", "memory_mb"} <= run["machine"].keys()
    assert check_study(run["config"]) == check_study(SMOKE)
    timed = [path for path in (finished.folder / "logs").rglob("*.tsv") if path.parent.name != "smoke"]  # not tables
    assert sum(stage["known"] for stage in run["stages"]) == sum(stage["jobs"] for stage in run["stages"]) == len(timed)


# --- verdicts


def test_a_finished_study_is_up_to_date(finished: Checkout, files: dict[str, str]) -> None:
    """Snakemake plans nothing: see test_plan_and_reruns.py."""
    for rule in ("model", "report"):
        verdict, reasons = verdict_of(finished.said("mklearn", "explain", files[rule]))
        assert verdict == "UP TO DATE"
        assert len(reasons.splitlines()) == 1, reasons


def test_a_file_is_asked_about_by_the_study_that_was_run(finished: Checkout, files: dict[str, str], copy_of) -> None:
    mine = copy_of(finished)
    (mine.folder / "config.yaml").rename(mine.folder / "mine.yaml")
    mine.write(SMOKE | {"study": "other", "datasets": {"digits": {"per_class": 7}}})
    record = mine.folder / files["run_record"]
    record.write_text(record.read_text(encoding="utf-8").replace('"config.yaml"', '"mine.yaml"'), encoding="utf-8")
    for rule in ("summary", "fit"):
        text = mine.said("mklearn", "explain", files[rule])
        assert f"rule {rule} of mine.yaml" in text
        assert "NOT PLANNED" not in text
    assert "NOT PLANNED by config.yaml" in mine.said("mklearn", "explain", files["fit"], "--study", "config.yaml")


def test_the_text_has_all_that_a_reader_wants_to_know(finished: Checkout, files: dict[str, str]) -> None:
    text = finished.said("mklearn", "explain", files["pairwise"])
    assert verdict_of(text) == ("UP TO DATE", "UP TO DATE: a run would not make it again.\n")
    log = files["pairwise"].replace("results/cache/", "logs/").replace(".npz", ".log")
    assert f"log      {log}\n" in text
    spec = text[text.index("Specification") : text.index("Inputs")].partition("\n")[2]
    assert yaml.safe_load(spec) == {"measure": "squared_euclidean"}
    assert f"source: {file_digest(finished.folder / files['describe'])}" in text
    assert "kernels/distances.py" in text
    first_line = (finished.folder / log).read_text(encoding="utf-8").splitlines()[0]
    assert f"\n  {first_line}\n" in text
    assert re.search(r"made at  20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC, by mklearn \d", text)


def test_an_edit_of_a_method_and_of_a_descriptor(finished: Checkout, copy_of: Any, files: dict[str, str]) -> None:
    checkout = copy_of(finished)
    before = checkout.edit("src/mklearn/subspace/mkldr.py")
    verdict, reasons = explained(checkout, files["fit"])
    assert (verdict, reasons.splitlines()[1:]) == (
        "WOULD BE MADE AGAIN", ["  - its code has changed: subspace/mkldr.py"],
    )  # fmt: skip
    assert verdict_of(checkout.said("mklearn", "explain", files["pairwise"]))[0] == "UP TO DATE"
    (checkout.folder / "src/mklearn/subspace/mkldr.py").write_text(before, encoding="utf-8")
    checkout.edit("src/mklearn/descriptors/multiresolution.py")
    verdict, reasons = explained(checkout, files["fit"])
    assert verdict == "WOULD BE MADE AGAIN"
    assert "mkldr.py" not in reasons  # its edit is taken back
    assert "inputs that are made again first: results/cache/pairwise/" in reasons
    assert f"First describe makes {files['describe']}: its code has changed: " in reasons
    assert "First pairwise" not in reasons  # it only follows


def test_a_newer_input(finished: Checkout, copy_of: Any, files: dict[str, str]) -> None:
    checkout = copy_of(finished)
    checkout.edit(files["run_record"], " \n")
    verdict, reasons = explained(checkout, files["report"])
    assert verdict == "WOULD BE MADE AGAIN"
    assert f"newer inputs: {files['run_record']}" in reasons


def test_files_that_belong_to_another(finished: Checkout, files: dict[str, str]) -> None:
    page = files["report"]
    figure = next((finished.folder / "results/smoke/report/figures").glob("*.svg")).relative_to(finished.folder)
    log = next((finished.folder / "logs/describe").rglob("blocks*.log")).relative_to(finished.folder)
    for path, owner in ((str(figure), page), (str(log), files["describe"])):
        text = finished.said("mklearn", "explain", path)
        assert f"written with {owner}" in text
        assert "UP TO DATE" in text


# --- mistakes


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["config.yaml"],
            "config.yaml: is not made by mklearn: it carries no stamp, and study file config.yaml",
        ),
        (["x.npz", "--study", "bad.yaml"], "bad.yaml has 1 mistake"),
    ],
)
def test_mistakes_are_one_sentence(finished: Checkout, words: list[str], sentence: str) -> None:
    finished.write({"study": "bad", "datasets": ["digitz"]}, "bad.yaml")
    said = finished.said("mklearn", "explain", *words, code=1)
    assert sentence in said
    assert said.startswith("mklearn: ")
    assert "Traceback" not in said

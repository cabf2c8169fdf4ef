"""From a user's files to predictions, or a paper's table, by the commands of the pages, as they print them.

Jobs of `mklearn run` run in this process: starting Python for each takes most of the time of a small study, and
`tests/workflow` runs studies through Snakemake.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale
from tests.unit.planned_jobs import planned_jobs
from tests.unit.study.data.annotated_files import write_h5mu
from tests.unit.study.report.test_paper_table import compiles
from tests.unit.test_documentation import blocks

from mklearn.__main__ import main
from mklearn.study.datasets import TableFile
from mklearn.study.engine.data_check import check_data
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study, read_study

pytestmark = pytest.mark.full
ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "own_data.md"
STUDIES = ROOT / "docs" / "studies.md"


@pytest.fixture
def mirror(repository: Path) -> Path:
    place = Path(os.environ.get("MKLEARN_MIRROR") or repository.parent / "shared" / "data")
    if not (place / "multiview").is_dir():
        pytest.skip("the mirror of public data is not there")
    return place


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "path/to").mkdir(parents=True)
    return tmp_path / "path/to"


def commands(first: str, page: Path = PAGE) -> list[list[str]]:
    (block,) = [block for block in blocks(page, "") if block.startswith(first)]
    return [shlex.split(line, comments=True) for line in block.splitlines()]


def follow(words: list[list[str]]) -> None:
    assert len(words) <= 5
    for program, *arguments in words:
        assert program == "mklearn"
        if arguments[0] == "run":
            for job in planned_jobs(yaml.safe_load(Path(arguments[1]).read_text(encoding="utf-8"))):
                job.run()
        else:
            assert main(arguments) == 0, arguments


def test_photos_in_colour_to_probabilities(folder: Path, mirror: Path) -> None:
    """Four flowers of Flowers-17: white and yellow ones have the same shapes in grey."""
    with zipfile.ZipFile(mirror / "flowers17" / "flowers17_224.zip") as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".jpg"))
        for flower in ("daffodil", "snowdrop", "bluebell", "crocus"):
            of_class = [name for name in names if flower in name.lower()]
            assert of_class, flower
            for number, name in enumerate(of_class[:14]):
                place = folder / "photos" / flower if number < 9 else folder / "new-photos"
                place.mkdir(parents=True, exist_ok=True)
                (place / f"{flower}-{number}.jpg").write_bytes(archive.read(name))
    follow(commands("mklearn init path/to/photos"))
    found = pd.read_csv("new-photos.csv")
    probabilities = found.filter(like="probability_")
    assert list(probabilities) == [f"probability_{name}" for name in ("bluebell", "crocus", "daffodil", "snowdrop")]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (found["id"].str.split("-").str[0] == found["label"]).mean() >= 0.75


def test_tables_with_gaps_to_probabilities(folder: Path, mirror: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tumours beside normal tissue of the same patients, in a MuData file and a table; metastases have no label."""
    place = mirror / "multiview" / "tcga_brca_survival"
    samples = pd.read_csv(place / "samples.csv")
    both = samples["group"].isin(samples.loc[samples["tissue"] == "normal", "group"])
    samples = samples[both | (samples["tissue"] != "primary tumour") | (np.arange(len(samples)) % 5 == 0)]
    held = samples["group"].isin(samples["group"].unique()[::5])
    clinical = samples.rename(columns={"group": "patient"}).merge(pd.read_csv(place / "clinical.csv.gz"), on="id")
    clinical["tissue"] = clinical["tissue"].replace("metastasis", None)
    for part, ids in (("cohort", samples.loc[~held, "id"]), ("new-patients", samples.loc[held, "id"])):
        (folder / part).mkdir()
        tables = {}
        for name, source, first in (("RNA", "gene", 1), ("panel", "gene", 61), ("mirna", "mirna", 1)):
            table = pd.read_csv(place / f"{source}.csv.gz", index_col="id").iloc[:, first - 1 : first + 59]
            table = table[table.index.isin(ids)]
            table.iloc[::7, 5] = np.nan
            tables[name] = table[3 if name == "mirna" else 0 :]
        tables.pop("panel").to_csv(folder / part / "panel.csv")
        obs = {name: pd.DataFrame(index=table.index) for name, table in tables.items()}
        modalities = {name: (table.to_numpy(), obs[name]) for name, table in tables.items()}
        write_h5mu(folder / part / "omics.h5mu", modalities, obs["RNA"])
    kept = ["id", "patient", "tissue", "age", "stage_i", "stage_ii"]
    clinical.loc[clinical["id"].isin(samples.loc[~held, "id"]), kept].to_csv(
        folder / "cohort/clinical.csv", index=False
    )
    follow(commands("mklearn init path/to/cohort"))
    output = capsys.readouterr().out
    for words in ("'patient'", "its other columns are no features", "3 of ", "impute: median", "without a label"):
        assert words in output
    study = read_study("cohort.yaml")
    assert [protocol.kind for protocol in study.protocols.values()] == ["group_k_fold"]
    omics = "path/to/cohort/omics.h5mu"
    assert study.datasets["cohort"].tables == {
        **{name.lower(): TableFile(path=omics, array=name) for name in ("RNA", "mirna")},
        "panel": "path/to/cohort/panel.csv",
    }
    found = pd.read_csv("new-patients.csv")
    assert len(found) == len(samples[held])
    np.testing.assert_allclose(found.filter(like="probability_").sum(axis=1), 1.0)
    truth = samples.set_index("id")["tissue"][found["id"]].to_numpy()
    known = truth != "metastasis"
    assert (found["label"].to_numpy() == truth)[known].mean() >= 0.9


def test_kernels_and_distances_with_numbers_to_predict(folder: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    people = pd.DataFrame({"id": [f"s{row}" for row in range(40)], "weeks": X[:, 0] + 20.5, "height": X[:, 2]})
    people.loc[7, "height"] = np.nan
    (folder / "pairs").mkdir()
    people.to_csv(folder / "pairs" / "people.csv", index=False)
    for name, columns in (("blood", slice(0, 2)), ("genes", slice(2, 4))):
        kernel = pd.DataFrame(X[:, columns] @ X[:, columns].T, people["id"], people["id"])
        kernel.to_csv(folder / "pairs" / f"{name}.csv")
    follow(commands("mklearn init path/to/pairs --measure kernel"))
    found = pd.read_csv("results/pairs/report/summary.csv").query("metric == 'r2' and selection == 'inner_cv'")
    assert set(found["method"]) == {"multi-view", "average", "best-single"}
    assert (found["mean"] > 0.9).all()
    study = yaml.safe_load(Path("pairs.yaml").read_text(encoding="utf-8"))
    study["datasets"]["pairs"]["target"] = ["weeks", "height"]
    counts = check_data(plan_study(check_study(study))).counts
    assert [count.split(" with")[0] for count in counts] == ["pairs-weeks: 40 samples", "pairs-height: 39 samples"]


def test_a_method_of_her_own_to_a_table_in_latex(folder: Path) -> None:
    wine = load_wine()
    chosen = np.arange(0, len(wine.target), 2)
    samples = pd.Index([f"wine-{number}" for number in chosen], name="id")
    (folder / "kernels").mkdir()
    for name, columns in (("chemistry", slice(0, 5)), ("colour", slice(9, 11))):
        features = scale(wine.data)[chosen, columns]
        pd.DataFrame(features @ features.T, samples, samples).to_csv(folder / "kernels" / f"{name}.csv")
    labels = pd.Series(wine.target_names[wine.target[chosen]], samples, name="label")
    labels.to_csv(folder / "kernels" / "labels.csv")
    for language in ("python", "yml"):
        for text in blocks(STUDIES, language):
            name = text.partition("\n")[0].removeprefix("# ")
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
    (_, *words) = commands("export PYTHONPATH=my-method", STUDIES)
    program = f"from tests.unit.study.test_journeys import follow; follow({words})"
    path = os.pathsep.join([str(Path("my-method").resolve()), str(ROOT), os.environ.get("PYTHONPATH", "")])
    subprocess.run([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": path}, check=True)
    text = Path("mine.tex").read_text(encoding="utf-8")
    assert re.search(r"Class means & \\textbf\{9\d\.\d \$\\pm\$ \d\.\d\} & \d\.\d{3} ", text), text
    assert r"\label{tab:mine}" in text
    if shutil.which("pdflatex") is not None:
        assert compiles(text, Path("paper"))

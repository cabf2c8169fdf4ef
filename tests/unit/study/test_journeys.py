"""From a user's files to predictions, or a paper's table, by the commands of the pages, as they print them.

A page says what a command does: the comment after it names the files that it writes (`-> FILE`), and a block without a
language after it has lines that it prints.
"""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale
from tests.unit.study.data.annotated_files import write_h5mu
from tests.unit.study.report.test_paper_table import compiles
from tests.unit.test_documentation import BLOCK
from tests.workflow.conftest import EmptyFolder

from mklearn.study.datasets import TableFile
from mklearn.study.reading import read_study

pytestmark = pytest.mark.full
DOCS = Path(__file__).resolve().parents[3] / "docs"


class Reader(EmptyFolder):
    """A user who does what a page says in a folder."""

    packages: tuple[str, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        inherited = super().environment
        return inherited | {"PYTHONPATH": os.pathsep.join([*self.packages, inherited["PYTHONPATH"]])}

    def follow(self, page: str, section: str = "") -> str:
        """Write the files of a page or a section of it, run its commands, and return their output."""
        text = (DOCS / page).read_text(encoding="utf-8")
        text = text.partition(f"## {section}\n")[2].partition("\n## ")[0] if section else text
        output = ""
        for language, block in BLOCK.findall(text):
            name = re.match(r"# (\S+\.\w+)\n", block)
            if language == "bash":
                lines = block.splitlines()
                assert sum(line.startswith("mklearn") for line in lines) <= 5
                output += "".join(map(self.run, lines))
            elif name is not None:
                (self.folder / name[1]).parent.mkdir(exist_ok=True)
                (self.folder / name[1]).write_text(block, encoding="utf-8")
            elif not language:
                missing = [
                    line for line in block.splitlines() if " ".join(line.split()) not in " ".join(output.split())
                ]
                assert not missing, output
        return output

    def run(self, line: str) -> str:
        program, *words = shlex.split(line, comments=True)
        promised = [self.folder / name for name in re.findall(r"[\w./-]+\.\w+", line.partition("# -> ")[2])]
        output = ""
        if program == "export":
            self.packages = (str(self.folder / words[0].removeprefix("PYTHONPATH=")),)
        elif program != "python":
            output = self.output(program, *words)
            assert "Traceback" not in output
        elif not all(path.exists() for path in promised):
            subprocess.run([sys.executable, *words], cwd=self.folder, env=self.environment, check=True)
        assert not [path for path in promised if not path.exists()], output
        return output


@pytest.fixture
def user(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    made = Reader(tmp_path / "user", repository)
    (made.folder / "path/to").mkdir(parents=True)
    monkeypatch.chdir(made.folder)
    return made


def photographs(folder: Path, mirror: Path) -> None:
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


def patients(folder: Path, mirror: Path) -> pd.DataFrame:
    """Tumours beside normal tissue of the same patients, in a MuData file and a table; metastases have no label.

    Return the samples that are held back.
    """
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
    return samples[held]


def test_photos_and_tables_with_gaps_to_probabilities(user: Reader, mirror: Path) -> None:
    folder = user.folder / "path/to"
    photographs(folder, mirror)
    held = patients(folder, mirror)
    output = user.follow("own_data.md", "From files to predictions")
    found = pd.read_csv("new-photos.csv")
    probabilities = found.filter(like="probability_")
    assert list(probabilities) == [f"probability_{name}" for name in ("bluebell", "crocus", "daffodil", "snowdrop")]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (found["id"].str.split("-").str[0] == found["label"]).mean() >= 0.75
    for words in ("group_column: patient", "clinical.csv", "3 of ", "impute: median", "without a target"):
        assert words in output
    study = read_study("cohort.yaml")
    assert [protocol.kind for protocol in study.protocols.values()] == ["group_k_fold"]
    omics = "path/to/cohort/omics.h5mu"
    assert study.datasets["cohort"].tables == {
        **{name.lower(): TableFile(path=omics, array=name) for name in ("RNA", "mirna")},
        "panel": "path/to/cohort/panel.csv",
    }
    found = pd.read_csv("new-patients.csv")
    assert len(found) == len(held)
    np.testing.assert_allclose(found.filter(like="probability_").sum(axis=1), 1.0)
    truth = held.set_index("id")["tissue"][found["id"]].to_numpy()
    known = truth != "metastasis"
    assert (found["label"].to_numpy() == truth)[known].mean() >= 0.9


def test_kernels_and_distances_with_numbers_to_predict(user: Reader) -> None:
    folder = user.folder / "path/to"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    people = pd.DataFrame({"id": [f"s{row}" for row in range(40)], "weeks": X[:, 0] + 20.5, "height": X[:, 2]})
    (folder / "pairs").mkdir()
    people.to_csv(folder / "pairs" / "people.csv", index=False)
    for name, columns in (("blood", slice(0, 2)), ("genes", slice(2, 4))):
        kernel = pd.DataFrame(X[:, columns] @ X[:, columns].T, people["id"], people["id"])
        kernel.to_csv(folder / "pairs" / f"{name}.csv")
    user.follow("own_data.md", "Numbers to predict")
    found = pd.read_csv("results/pairs/report/summary.csv").query("metric == 'r2' and selection == 'inner_cv'")
    assert set(found["method"]) == {"multi-view", "average", "best-single"}
    assert (found["mean"] > 0.9).all()
    report = Path("results/pairs/report")
    assert "Predicted and true numbers" in (report / "index.html").read_text(encoding="utf-8")
    assert not re.search("ccuracy|classes", (report / "summary.md").read_text(encoding="utf-8"))


def test_a_method_of_her_own_to_a_table_in_latex(user: Reader) -> None:
    folder = user.folder / "path/to"
    wine = load_wine()
    chosen = np.arange(0, len(wine.target), 2)
    samples = pd.Index([f"wine-{number}" for number in chosen], name="id")
    (folder / "kernels").mkdir()
    for name, columns in (("chemistry", slice(0, 5)), ("colour", slice(9, 11))):
        features = scale(wine.data)[chosen, columns]
        pd.DataFrame(features @ features.T, samples, samples).to_csv(folder / "kernels" / f"{name}.csv")
    labels = pd.Series(wine.target_names[wine.target[chosen]], samples, name="label")
    labels.to_csv(folder / "kernels" / "labels.csv")
    user.follow("studies.md", "A method of your own")
    text = Path("mine.tex").read_text(encoding="utf-8")
    assert re.search(r"Class means & \\textbf\{9\d\.\d \$\\pm\$ \d\.\d\} & \d\.\d{3} ", text), text
    assert r"\label{tab:mine}" in text
    if shutil.which("pdflatex") is not None:
        assert compiles(text, Path("paper"))


# --- how-tos


def tumours(folder: Path, mirror: Path) -> None:
    """Write a table per view, the samples with their published part, and MuData files of old and of new ones.

    A third has no proteins, and the 20 new ones no subtypes.
    """
    place, tables = mirror / "multiview" / "breast_tcga", dict[str, pd.DataFrame]()
    for name in ("mrna", "mirna", "protein"):
        tables[name] = pd.read_csv(place / f"{name}.csv.gz", index_col="id")
        tables[name].to_csv(folder / f"{name}.csv")
    samples = pd.read_csv(place / "samples.csv", index_col="id").set_axis(["subtype", "role"], axis=1)
    samples.to_csv(folder / "samples.csv")
    subtypes, new = samples[["subtype"]], samples.index[::11]
    for name, part in (("new-tumours", subtypes.loc[new, []]), ("tumours", subtypes.drop(index=new))):
        rows = {view: table[table.index.isin(part.index)] for view, table in tables.items()}
        modalities = {view: (table.to_numpy(), pd.DataFrame(index=table.index)) for view, table in rows.items()}
        write_h5mu(folder / f"{name}.h5mu", modalities, part)


def molecules(folder: Path, mirror: Path) -> None:
    """Write a table of SMILES; without RDKit also what RDKit makes of them."""
    place = mirror / "multiview" / "delaney"
    samples = pd.read_csv(place / "samples.csv")
    samples[["id", "smiles", "log_solubility"]].to_csv(folder / "molecules.csv", index=False)
    if importlib.util.find_spec("rdkit") is None:
        for source, name in {"morgan": "morgan", "descriptors": "properties"}.items():
            pd.read_csv(place / f"{source}.csv.gz").to_csv(folder.parents[1] / f"{name}.csv", index=False)


def slurm(folder: Path, mirror: Path) -> None:
    """Without the plug-in, `slurm` is a copy of the profile that runs the jobs here (`test_slurm.py` runs it there)."""
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        text = (DOCS.parent / "workflow/profiles/slurm/config.yaml").read_text(encoding="utf-8")
        kept = {key: value for key, value in yaml.safe_load(text).items() if "slurm" not in f"{key}: {value}"}
        (folder.parents[1] / "slurm").mkdir()
        (folder.parents[1] / "slurm/config.yaml").write_text(yaml.safe_dump(kept | {"cores": 2}), encoding="utf-8")


def women(folder: Path, mirror: Path) -> None:
    """Write a table per view, with days and status in the clinical one, and tables of new patients without these."""
    place = mirror / "multiview" / "tcga_brca_survival"
    samples = pd.read_csv(place / "samples.csv", index_col="id").query("tissue == 'primary tumour'")
    samples = samples[~samples["group"].duplicated()]
    new = samples.index[::12]
    (folder / "new-patients").mkdir()
    for name in ("gene", "mirna", "clinical"):
        table = pd.read_csv(place / f"{name}.csv.gz", index_col="id").loc[samples.index]
        table.loc[new].to_csv(folder / "new-patients" / f"{name}.csv")
        if name == "clinical":
            table = table.assign(days=samples["time"], status=np.where(samples["event"] == 1, "dead", "alive"))
        table.drop(index=new).to_csv(folder / f"{name}.csv")


HOW_TOS: dict[str, tuple[Callable[[Path, Path], object], dict[str, str]]] = {
    "photographs": (photographs, {"flowers/report/summary.md": "Which view matters?"}),
    "chemistry": (molecules, {"solubility/report/chosen.csv": "alpha"}),
    "cluster": (slurm, {}),
    "omics": (tumours, {"tumours/report/views.csv": "protein", "tumours/report/summary.md": "Which view matters?"}),
    "survival": (women, {"breast/report/views.csv": "mirna", "breast/model.md": "survival:\n    events: 36"}),
    "external_cohort": (tumours, {"external/report/summary.md": "McNemar's exact test"}),
}
"""What makes the files of each page, and words in results that it promises."""


@pytest.mark.parametrize("page", [path.stem for path in sorted((DOCS / "howto").glob("*.md"))])
def test_a_how_to(page: str, user: Reader, mirror: Path) -> None:
    write_files, promised = HOW_TOS[page]
    write_files(user.folder / "path/to", mirror)
    user.follow(f"howto/{page}.md")
    for name, words in promised.items():
        assert words in Path("results", name).read_text(encoding="utf-8")

"""Study files for the user's own data: valid, and as the data need them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image
from tests.unit.study.data.annotated_files import write_h5ad

from mklearn.__main__ import main
from mklearn.errors import ConfigError, DataError
from mklearn.study.data.readers.images import decode_image
from mklearn.study.engine.new_study import Choices, new_study
from mklearn.study.reading import read_study
from mklearn.study.yaml_file import read_yaml

IDS = [f"s{k}" for k in range(24)]
ZEROS = [f"{k:03}" for k in range(24)]
CELLS = pd.DataFrame({"well": IDS, "type": list("ab") * 12, "x": np.arange(24) / 7}).set_index("well")
GENES = pd.DataFrame(np.arange(72.0).reshape(3, 24), pd.Index(["g1", "g2", "g3"], name="gene"), IDS)
PEOPLE = pd.DataFrame({"sample_id": IDS, "class": list("ab") * 12}).set_index("sample_id")


def images(folder: str, **sizes: int) -> None:
    for label, n in sizes.items():
        Path(folder, label).mkdir(parents=True)
        for number in range(n):
            Image.fromarray(np.full((9, 9), 20 * number, dtype=np.uint8)).save(f"{folder}/{label}/{number}.png")


def dataset(path: str = "cohort.yaml") -> dict[str, Any]:
    (entry,) = read_yaml(path)["datasets"].values()
    return entry


def test_images_in_class_folders(here: Path) -> None:
    images("My Photos", cat=6, dog=5)
    Path("My Photos/notes.txt").touch()
    made = new_study("My Photos")
    entry = {"kind": "image_folder", "path": "My Photos", "colour": "grey", "resize": {"shape": [64, 64]}}
    assert yaml.safe_load(made.text) == {
        "study": "my-photos", "datasets": {"my-photos": entry}, "null": 20, "final": {"method": "multi-view"}
    }  # fmt: skip
    assert made.notes == ()
    assert made.text.startswith("# 11 samples of 2 classes: cat 6, dog 5\n")
    images("v1.2", cat=5, dog=5)
    assert new_study("v1.2").name == "v1.2"
    with pytest.raises(ConfigError, match=r"v1\.2 holds images, whose sub-folders are the classes: omit the options"):
        new_study("v1.2", Choices(label_column="type"))


def test_photos_in_colour_are_read_in_colour(here: Path) -> None:
    images("photos", cat=5, dog=5)
    for number, path in enumerate(sorted(Path("photos").rglob("*.png"))):
        if number < 6:
            grey = decode_image(path.read_bytes(), "x")
            Image.fromarray(np.stack([grey, grey // 2, 255 - grey], axis=2)).save(path)
    Path("photos/cat/0.png").write_bytes(b"broken")
    assert yaml.safe_load(new_study("photos").text)["datasets"]["photos"]["colour"] == "rgb"
    images("small", cat=6, dog=3)  # has fewer folds
    study = yaml.safe_load(new_study("small").text)
    assert study["protocols"] == {"3-fold": {"kind": "k_fold", "folds": 3}}
    images("small", owl=1)
    with pytest.raises(DataError, match=r"classes: cat 6, dog 3, owl 1\. Cross-validation needs two"):
        new_study("small")


def test_a_table_and_its_columns(here: Path) -> None:
    CELLS.assign(patient=[f"p{k // 4}" for k in range(24)]).rename_axis("name").to_csv("Cell shapes.csv")
    made = new_study("Cell shapes.csv", Choices(label_column="type"), name="cells")
    study = yaml.safe_load(made.text)
    assert study["datasets"]["cells"] == {
        "kind": "feature_tables", "tables": {"cell-shapes": "Cell shapes.csv"}, "id_column": "name",
        "label_column": "type", "group_column": "patient",
    }  # fmt: skip
    assert study["protocols"] == {"5-fold": {"kind": "group_k_fold", "folds": 5}}
    assert made.text.startswith("# 24 samples in 6 groups of 2 classes: a 12, b 12\n")
    text = Path("Cell shapes.csv").read_text(encoding="utf-8")
    Path("Cell shapes.csv").write_text(text.replace(",p2\n", ",\n", 1), encoding="utf-8")  # one has no patient
    made = new_study("Cell shapes.csv", Choices(label_column="type"))
    assert "group_column" not in made.text
    assert "Folds do not hold out whole groups by 'patient'; for that, fill in its empty cells (1)." in made.notes


COHORT = {
    "kind": "feature_tables", "tables": {"genes": "cohort/genes.csv", "proteins": "cohort/proteins.csv"},
    "labels": "cohort/people.csv", "id_column": "sample", "group_column": "patient_id", "leave_out": ["chip"],
    "missing_views": "mean", "impute": "median",
}  # fmt: skip


@pytest.fixture
def cohort(here: Path) -> Path:
    rng = np.random.default_rng(0)
    place = here / "cohort"
    place.mkdir()
    people = {"sample": IDS, "patient_id": [k // 2 for k in range(24)], "subtype": ["a", "a", "b", "b"] * 6}
    pd.DataFrame(people | {"age": range(40, 64), "site": ["x", "y", "z"] * 8}).to_csv(place / "people.csv", index=False)
    genes = pd.DataFrame(rng.random((24, 3)), columns=["g1", "g2", "g3"]).assign(sample=IDS, chip=["c1", "c2"] * 12)
    genes.loc[4, "g2"] = np.nan
    genes.to_csv(place / "genes.csv", index=False)
    proteins = pd.DataFrame(rng.random((24, 2)), columns=["p1", "p2"]).assign(sample=IDS)
    proteins[3:].to_csv(place / "proteins.csv", index=False)
    return place


def test_a_clinical_table_has_labels_and_groups_only(cohort: Path, mklearn: Callable[..., str]) -> None:
    printed = mklearn("init", "cohort")
    assert dataset() == COHORT | {"label_column": "subtype"}
    assert read_yaml("cohort.yaml")["protocols"] == {"5-fold": {"kind": "group_k_fold", "folds": 5}}
    assert Path("cohort.yaml").read_text(encoding="utf-8") in printed
    for words in (
        "cohort/people.csv holds the labels ('subtype'); its other columns are no features: 'patient_id', 'age'",
        "are no features: 'chip' (leave_out).",
        "3 of 24 samples lack a table",
        "impute: median",
    ):
        assert words in printed
    mklearn("validate", "cohort.yaml")


def test_columns_of_survival_times(cohort: Path, mklearn: Callable[..., str]) -> None:
    words = ["init", "cohort", "--time", "age"]
    assert "survival needs --time and --event: name both columns" in mklearn(*words, code=1)
    words += ["--event", "subtype"]
    refused = mklearn(*words, "--target", "age", code=1)
    assert "--target age and --time age: a study has one target; omit the others" in refused
    printed = mklearn(*words, "--occurred", "a")
    assert "# 24 samples in 12 groups, 12 events, times from 40 to 63, median 51.5" in printed
    assert dataset() == COHORT | {"target": {"time": "age", "event": "subtype", "occurred": "a"}}


def test_a_column_of_numbers_to_predict(cohort: Path, mklearn: Callable[..., str]) -> None:
    counted = "24 samples in 12 groups, numbers from 40 to 63, median 51.5"
    assert f"# {counted}" in mklearn("init", "cohort", "--target", "age")
    assert dataset() == COHORT | {"target": "age"}
    assert counted in mklearn("validate", "cohort.yaml")
    study = read_study("cohort.yaml")
    assert (study.evaluation.choose_by, study.protocols["5-fold"].kind) == ("r2", "group_k_fold")


def test_options_decide(cohort: Path, mklearn: Callable[..., str]) -> None:
    words = ["init", "cohort", "--force", "--group", ""]
    mklearn(*words, "--views", "genes", "people")
    assert set(dataset()["tables"]) == {"genes", "people"}
    assert not {"labels", "group_column"} & set(dataset())
    assert dataset()["leave_out"] == ["chip", "patient_id", "site"]
    (cohort / "people.csv").rename("elsewhere.csv")
    mklearn(*words, "--labels", "elsewhere.csv")
    assert (set(dataset()["tables"]), dataset()["labels"]) == ({"genes", "proteins"}, "elsewhere.csv")
    with pytest.raises(ConfigError, match="--views x: there is no such table; valid: genes, proteins"):
        new_study("cohort", Choices(labels="elsewhere.csv", views=["x"]))


def test_ids_that_most_tables_lack_are_refused(cohort: Path) -> None:
    genes, people = pd.read_csv(cohort / "genes.csv"), pd.read_csv(cohort / "people.csv")
    genes["sample"] = [name if k < 5 else f"{name}-b" for k, name in enumerate(genes["sample"])]
    genes.to_csv(cohort / "genes.csv", index=False)
    people = pd.concat([people, people.assign(sample=people["sample"] + "-b")])
    people.to_csv(cohort / "people.csv", index=False)
    with pytest.raises(DataError, match=r"most of the .* samples lack one of the tables genes.* written alike"):
        new_study("cohort")


def test_a_folder_of_neither(here: Path) -> None:
    Path("empty").mkdir()
    with pytest.raises(DataError, match="empty: expected one sub-folder per class with images in it"):
        new_study("empty")
    Path("cohort").mkdir()  # kills: a table whose suffix is in capitals, which is left out without a word
    CELLS.set_axis(["label", "x"], axis=1).rename_axis("id").to_csv("cohort/blood.csv")
    for name in ("imaging.CSV", "other.xlsx"):
        Path("cohort", name).touch()
    (note,) = [note for note in new_study("cohort").notes if note.startswith("Left out, because they are no tables (")]
    assert note.endswith("'imaging.CSV', 'other.xlsx'.")
    pd.DataFrame({"repeat": [0], "fold": [0], "role": ["train"], "id": ["a"]}).to_csv("cohort/parts.csv", index=False)
    made = new_study("cohort")
    assert "parts" not in made.text
    assert any(note.endswith("given: parts.csv.") for note in made.notes)
    Path("cohort/blood.csv").unlink()
    with pytest.raises(DataError, match="cohort: expected one sub-folder per class"):
        new_study("cohort")


# --- the command


def test_init_writes(here: Path, mklearn: Callable[..., str]) -> None:
    images("photos", cat=5, dog=5)
    assert "photos.yaml is written and valid. Run it: mklearn run photos.yaml" in mklearn("init", "photos")
    mklearn("validate", "photos.yaml")
    assert "photos.yaml: the file exists; --force replaces it" in mklearn("init", "photos", code=1)
    mklearn("init", "photos", "--force", "--name", "pets", "--output", "photos.yaml")
    assert read_study("photos.yaml").study == "pets"
    Path("elsewhere").mkdir()
    for output, path in (("photos/pets.yaml", "."), ("elsewhere/pets.yaml", str(here / "photos"))):
        mklearn("init", "photos", "--output", output)
        assert dataset(output)["path"] == path
        mklearn("validate", output)


@pytest.mark.parametrize(
    ("frames", "options", "sentence"),
    [
        ([CELLS.reset_index().set_axis(["a", "well", "b"], axis=1).set_index("a"), CELLS], [], "of well, a, b, type,"),
        ([CELLS], ["--id", "well", "--label", "type"], "holds the labels ('type') and features (leave_out takes those"),
        ([GENES.T, PEOPLE.assign(g1=1)], [], "t0.csv has columns of cells/t1.csv as features (leave_out takes those"),
        ([CELLS], ["--id", "well"], "no column 'label': name one with --label or --target, of well, type, x."),
        ([CELLS.assign(label="a", kind="b")[["label", "kind"]]], ["--id", "well"], "t0.csv: columns that are not numb"),
        ([GENES.T.assign(species=3), PEOPLE.assign(name=IDS)], ["--views", "t0"], "are no features: 'species'"),
        ([GENES.T, PEOPLE.assign(name=IDS)], [], "id_column: sample_id"),
        ([GENES.T, PEOPLE.assign(species="x")], [], "label_column: class"),
        ([GENES.T, PEOPLE.rename_axis("").assign(name="x")], [], "label_column: class"),
        ([GENES, PEOPLE], [], "transpose: true"),
        ([GENES.set_axis(ZEROS, axis=1), PEOPLE.set_axis(ZEROS).rename_axis("sample_id")], [], "transpose: true"),
        ([CELLS.set_axis(ZEROS)], ["--label", "type"], "the first column, which has no name, has the ids"),
        ([GENES.assign(symbol="A"), PEOPLE], [], "are no features: 'symbol' (leave_out)."),
        ([GENES.T.assign(ORIG_FID=range(24), FID_1=range(24), fid=[1, 2] * 12), PEOPLE], [],
         "are no features: 'ORIG_FID', 'FID_1' (leave_out)."),
        ([GENES.T.rename_axis("nr"), PEOPLE.rename_axis("nr")], [], "no column 'id': name one with --id, of nr, class"),
        ([GENES.T.rename_axis("id").assign(label=[*"ab"] * 12)], [], "    id_column: id\n    label_column: label\n"),
        ([GENES.T.assign(g8=[*"123", "<1"] * 6, g9=[*"123", "?"] * 6), PEOPLE], [],
         "t0.csv: left out though most values seem to be numbers: 'g8', 'g9'. 12 cells have text, such as '<1', '?';"),
        ([GENES.T.assign(g9=[*"12", "3,5", "4"] * 6), PEOPLE], [], "6 cells have text, such as '3,5'; write"),
        ([GENES.T.assign(g8=["1.5", "2,5"] * 12, g9="a").to_csv(sep=";", decimal=","), PEOPLE], [], "24 cells have"),
        ([GENES.T.assign(g9=[1, 2, 9000, -999] * 6), PEOPLE], [], "'t0' has 6 values -999, unlike all others of the c"),
        ([GENES.T.assign(t=[-3, 2, 9, 9999] * 6)], ["--target", "t"], "'t' has 6 values 9999, unlike all others"),
        ([GENES.T.assign(near=[9999, *[0, 49] * 11, 0], far=[9999, *[0, 200] * 11, 0]), PEOPLE], [],
         "'t0' has 1 value 9999, unlike all others of the column(s) 'near':"),
        ([GENES.T.assign(near=[0, 2, 60, 99] * 6, far=[-3, 2, 31, 99] * 6), PEOPLE], [], "has 6 values 99, unlike all "
         "others of the column(s) 'far'"),
        ([GENES.T.assign(t=[*range(1, 23), 365.0, 640.0])], ["--target", "t"],
         "'t': '365 of s22', '640 of s23' lie far from"),
        ([GENES.T.assign(t=[-3, 2, 9, -9] * 6)], ["--target", "t"], "24 samples, numbers from -9 to 9, median -0.5"),
        ([GENES.T * np.nan, PEOPLE], [], "t0.csv: has no value in any column of features; leave the table out"),
        ([GENES.replace(27.0, "<0.5"), PEOPLE], [], "not numbers: 's3'; for example '<0.5' of row 'g2' in 's3'; write"),
        ([GENES.set_axis([f"{name:_<3}-x" for name in IDS], axis=1), PEOPLE.rename("{:_<3}-y".format)],
         ["--id-prefix", "3"], "transpose: true"),
        ([GENES.set_axis(ZEROS, axis=1), PEOPLE.set_axis(pd.Index(ZEROS, name="patient"))], ["--id", "patient"],
         "transpose: true"),
    ],
)  # fmt: skip
def test_columns_by_their_names(
    here: Path, capsys: pytest.CaptureFixture[str], frames: list[Any], options: list[str], sentence: str
) -> None:
    Path("cells").mkdir()
    for number, frame in enumerate(frames):
        text = frame if isinstance(frame, str) else frame.to_csv()
        Path(f"cells/t{number}.csv").write_text(text, encoding="utf-8")
    code = main(["init", "cells", *options])
    printed = capsys.readouterr()
    assert sentence in printed.out + printed.err
    assert code == bool(printed.err)
    assert code or main(["validate", "cells.yaml"]) == 0


def test_annotated_data_of_other_programs(here: Path, mklearn: Callable[..., str]) -> None:
    Path("both").mkdir()
    CELLS.rename_axis("barcode").to_csv("both/a.csv")
    write_h5ad(Path("both/b.h5ad"), GENES.to_numpy().T, CELLS[[]])
    mklearn("init", "both", "--label", "type")
    assert dataset("both.yaml")["id_column"] == "barcode"
    write_h5ad(Path("cells.h5ad"), GENES.to_numpy().T, CELLS[["type"]])
    mklearn("init", "cells.h5ad", "--label", "type")
    entry = {"kind": "feature_tables", "tables": {"cells": "cells.h5ad"}, "label_column": "type"}
    assert dataset("cells.yaml") == entry
    mklearn("validate", "cells.yaml")

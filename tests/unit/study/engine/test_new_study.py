"""Study files for the user's own data: valid, and as the data need them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image
from tests.unit.study.data.annotated_files import write_h5ad, write_h5mu

from mklearn.__main__ import main
from mklearn.errors import ConfigError, DataError
from mklearn.study.config.reading import check_study, read_study
from mklearn.study.data.readers.content import decode_image
from mklearn.study.data.readers.text_tables import slug
from mklearn.study.engine.data_check import check_data
from mklearn.study.engine.found_data import find_data
from mklearn.study.engine.new_study import Choices, new_study
from mklearn.study.plan.plan import plan_study


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def images(folder: Path, **sizes: int) -> None:
    for label, n in sizes.items():
        (folder / label).mkdir(parents=True)
        for number in range(n):
            Image.fromarray(np.full((9, 9), 20 * number, dtype=np.uint8)).save(folder / label / f"{number}.png")


def table(path: Path, n: int, *, id_name: str = "id", label: str = "label", more: str = "") -> None:
    """Write a table of two classes; ``more`` is a column with two samples of each value."""
    head = ",".join(filter(None, [id_name, label, more, "x"]))
    rows = [",".join([f"s{k}", *(["ab"[k % 2]] if label else []), *([f"p{k // 4}"] if more else []), f"{k / 7}"])
            for k in range(n)]  # fmt: skip
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def test_images_in_class_folders(folder: Path) -> None:
    images(folder / "My Photos", cat=6, dog=5)
    (folder / "My Photos" / "notes.txt").touch()
    made = new_study(find_data("My Photos"))
    entry = {"kind": "image_folder", "path": "My Photos", "colour": "grey", "resize": {"shape": [64, 64]}}
    assert yaml.safe_load(made.text) == {
        "study": "my-photos", "datasets": {"my-photos": entry}, "final": {"method": "multi-view"}
    }  # fmt: skip
    assert made.notes == (
        "11 samples of 2 classes; the smallest has 5 samples.",
        "Images are read in grey (colour: grey) and resized to 64 x 64 pixels (resize).",
    )
    assert made.text.startswith(f"# {made.notes[0]}\n")
    images(folder / "v1.2", cat=5, dog=5)
    assert new_study(find_data("v1.2")).name == "v1.2"


def test_small_classes_have_fewer_folds(folder: Path) -> None:
    images(folder / "photos", cat=6, dog=3)
    study = yaml.safe_load(new_study(find_data("photos")).text)
    assert study["protocols"] == {"3-fold": {"kind": "k_fold", "folds": 3}}
    images(folder / "photos", owl=1)
    with pytest.raises(DataError, match="class 'owl' has 1 sample: cross-validation needs 2"):
        new_study(find_data("photos"))


def test_a_table_and_its_columns(folder: Path) -> None:
    table(folder / "Cell shapes.csv", 24, id_name="name", label="type", more="patient")
    found = find_data("Cell shapes.csv")
    assert list(found.tables) == ["cell-shapes"]
    assert found.columns == ["name", "type", "patient", "x"]
    made = new_study(found, Choices(id_column="name", label_column="type", group_column="patient"), "cells")
    study = yaml.safe_load(made.text)
    assert study["datasets"]["cells"] == {
        "kind": "feature_tables", "tables": {"cell-shapes": "Cell shapes.csv"}, "id_column": "name",
        "label_column": "type", "group_column": "patient",
    }  # fmt: skip
    assert study["protocols"] == {"5-fold": {"kind": "group_k_fold", "folds": 5}}
    assert made.notes[0] == "24 samples of 2 classes; the smallest has 6 groups."


def test_heavy_tailed_views_are_noted(folder: Path) -> None:
    """By `init`, and by `validate`."""
    (folder / "tables").mkdir()
    table(folder / "tables" / "shape.csv", 20)
    counts = np.random.default_rng(0).lognormal(sigma=2, size=(20, 4))
    np.savez(folder / "tables" / "rna.npz", id=[f"s{k}" for k in range(20)], x=counts)
    made = new_study(find_data("tables"))
    checked = check_data(plan_study(check_study(yaml.safe_load(made.text))))
    for notes in (made.notes, checked.notes):
        (note,) = [note for note in notes if "heavy-tailed" in note]
        assert "view 'rna'" in note
        assert "feature_scaling: log" in note


def test_a_folder_of_tables_with_a_file_of_labels(folder: Path) -> None:
    (folder / "tables").mkdir()
    table(folder / "tables" / "shape.csv", 12, label="")
    np.savez(folder / "tables" / "colour.npz", id=[f"s{k}" for k in range(12)], x=np.eye(12, 5))
    rows = "".join(f"s{k},{'ab'[k % 2]}\n" for k in range(12))
    (folder / "tables" / "classes.csv").write_text(f"id,label\n{rows}", encoding="utf-8")
    entry = yaml.safe_load(new_study(find_data("tables")).text)["datasets"]["tables"]
    assert entry == {
        "kind": "feature_tables", "tables": {"colour": "tables/colour.npz", "shape": "tables/shape.csv"},
        "labels": "tables/classes.csv",
    }  # fmt: skip


def square(kind: str, n: int = 12) -> np.ndarray:
    x = np.random.default_rng(0).random((n, 2))
    squared = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    return {"kernel": np.exp(-squared), "distance": np.sqrt(squared)}[kind]


def write_matrices(folder: Path, kind: str) -> list[str]:
    """Write the same matrix in each form, and a table of labels with the age of each sample."""
    folder.mkdir()
    ids, matrix = [f"s{k}" for k in range(12)], square(kind)
    order = np.random.default_rng(1).permutation(12)
    rows = pd.DataFrame(matrix, columns=ids).assign(id=ids)
    rows.iloc[order].to_csv(folder / "named.csv", index=False)
    rows.to_parquet(folder / "columns.parquet")
    np.savetxt(folder / "bare.csv", matrix, delimiter=",")
    np.savez(folder / "array.npz", K=matrix[np.ix_(order, order)], id=np.array(ids)[order])
    pd.DataFrame({"id": ids, "label": ["a", "b"] * 6, "age": range(12)}).to_csv(folder / "people.csv", index=False)
    return ["array", "bare", "columns", "named"]


@pytest.mark.parametrize("kind", ["kernel", "distance"])
def test_square_symmetric_tables_are_matrices(folder: Path, kind: str) -> None:
    names = write_matrices(folder / "pairs", kind)
    made = new_study(find_data("pairs"))
    study = yaml.safe_load(made.text)
    entry = study["datasets"]["pairs"]
    assert (entry["kind"], entry["measure"], entry["labels"]) == ("precomputed", kind, "pairs/people.csv")
    assert list(entry["matrices"]) == names
    assert "final" not in study
    assert any(f"matrices of pairs (measure: {kind}, by their diagonal of" in note for note in made.notes)
    said = new_study(find_data("pairs"), Choices(measure="squared_euclidean")) if kind == "distance" else None
    assert said is None or "measure: squared_euclidean" in said.text
    (folder / "pairs" / "people.csv").unlink()
    with pytest.raises(DataError, match="no table has the column 'label' of their labels; name one with --labels FILE"):
        new_study(find_data("pairs"))


@pytest.mark.parametrize("change", ["asymmetric", "negative diagonal", "other names", "a gap"])
def test_other_square_tables_are_features(folder: Path, change: str) -> None:
    ids, matrix = [f"s{k}" for k in range(12)], square("kernel")
    matrix[0, 1] = {"asymmetric": 3.0, "a gap": np.nan}.get(change, matrix[0, 1])
    matrix[0, 0] = -1 if change == "negative diagonal" else 1
    columns = [f"x{k}" for k in range(12)] if change == "other names" else ids
    pd.DataFrame(matrix, columns=columns).assign(id=ids).to_csv(folder / "square.csv", index=False)
    assert find_data("square.csv").tables["square"].measure == ""


def test_kernels_beside_distances_and_ids_of_another_name(folder: Path) -> None:
    write_matrices(folder / "pairs", "kernel")
    np.savetxt(folder / "pairs" / "far.csv", square("distance"), delimiter=",")
    with pytest.raises(DataError, match="'array', 'bare', 'columns', 'named' look like kernels and the other square"):
        new_study(find_data("pairs"))
    (folder / "pairs" / "far.csv").unlink()
    people = pd.read_csv(folder / "pairs" / "people.csv")
    people.rename(columns={"id": "sample"}).to_csv(folder / "pairs" / "people.csv", index=False)
    with pytest.raises(DataError, match=r"array\.npz: has ids in 'id', and pairs/people\.csv in 'sample'"):
        new_study(find_data("pairs"), Choices(id_column="sample"))


def write_cohort(folder: Path) -> None:
    """Write two tables with gaps, and a clinical one whose columns have other names than the usual ones."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    ids = [f"s{k}" for k in range(24)]
    people = {"sample": ids, "patient_id": [k // 2 for k in range(24)], "subtype": ["a", "a", "b", "b"] * 6}
    pd.DataFrame(people | {"age": range(40, 64), "site": ["x", "y", "z"] * 8}).to_csv(
        folder / "people.csv", index=False
    )
    genes = pd.DataFrame(rng.random((24, 3)), columns=["g1", "g2", "g3"]).assign(sample=ids, chip=["c1", "c2"] * 12)
    genes.loc[4, "g2"] = np.nan
    genes.to_csv(folder / "genes.csv", index=False)
    pd.DataFrame(rng.random((24, 2)), columns=["p1", "p2"]).assign(sample=ids)[3:].to_csv(
        folder / "proteins.csv", index=False
    )


def test_a_clinical_table_holds_labels_and_groups_and_no_features(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_cohort(folder / "cohort")
    assert main(["init", "cohort"]) == 0
    study = yaml.safe_load((folder / "cohort.yaml").read_text())
    assert study["datasets"]["cohort"] == {
        "kind": "feature_tables", "tables": {"genes": "cohort/genes.csv", "proteins": "cohort/proteins.csv"},
        "labels": "cohort/people.csv", "id_column": "sample", "label_column": "subtype", "group_column": "patient_id",
        "leave_out": ["chip"], "missing_views": "mean", "impute": "median",
    }  # fmt: skip
    assert study["protocols"] == {"5-fold": {"kind": "group_k_fold", "folds": 5}}
    said = capsys.readouterr().out
    for words in (
        "Ids are in column 'sample'.",
        "Classes are in column 'subtype', with 2 values.",
        "cohort/people.csv holds the labels ('subtype'), and its other columns are no features; --views genes people",
        "Folds hold out whole groups: 'patient_id' has 12",
        "Columns that are no features: 'chip' (leave_out).",
        "3 of 24 samples lack a table",
        "impute: median",
    ):
        assert words in said
    assert main(["validate", "cohort.yaml"]) == 0


def test_a_column_of_numbers_to_predict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cohort(folder / "cohort")
    assert main(["init", "cohort", "--target", "age"]) == 0
    assert yaml.safe_load((folder / "cohort.yaml").read_text())["datasets"]["cohort"] == {
        "kind": "feature_tables", "tables": {"genes": "cohort/genes.csv", "proteins": "cohort/proteins.csv"},
        "labels": "cohort/people.csv", "id_column": "sample", "target": "age", "group_column": "patient_id",
        "leave_out": ["chip"], "missing_views": "mean", "impute": "median",
    }  # fmt: skip
    said = capsys.readouterr().out
    assert "24 samples in 12 groups with numbers to predict, from 40 to 63." in said
    assert "cohort/people.csv holds the labels ('age'), and its other columns are no features" in said
    assert main(["validate", "cohort.yaml"]) == 0
    assert "24 samples in 12 groups with numbers to predict" in capsys.readouterr().out
    study = read_study("cohort.yaml")
    assert study.evaluation.choose_by == "r2"
    assert study.protocols["5-fold"].kind == "group_k_fold"


def test_a_batch_written_as_a_number_is_no_feature(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cohort(folder / "cohort")
    genes = pd.read_csv(folder / "cohort" / "genes.csv").drop(columns="chip")
    genes.assign(batch=[1, 2, 3] * 8, site=[4, 5] * 12).to_csv(folder / "cohort" / "genes.csv", index=False)
    assert main(["init", "cohort"]) == 0
    entry = yaml.safe_load((folder / "cohort.yaml").read_text())["datasets"]["cohort"]
    assert entry["leave_out"] == ["batch", "site"]
    assert "Columns that are no features: 'batch', 'site' (leave_out)." in capsys.readouterr().out


def test_what_is_said_of_tables_is_not_found_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_cohort(folder / "cohort")
    words = ["init", "cohort", "--force", "--group", "", "--impute", "mean", "--missing-views", "drop"]
    assert main([*words, "--views", "genes", "people"]) == 0
    entry = yaml.safe_load((folder / "cohort.yaml").read_text())["datasets"]["cohort"]
    assert set(entry["tables"]) == {"genes", "people"}
    assert "labels" not in entry
    assert "group_column" not in entry
    assert entry["leave_out"] == ["chip", "patient_id", "site"]
    assert (entry["missing_views"], entry["impute"]) == ("drop", "mean")
    (folder / "cohort" / "people.csv").rename(folder / "elsewhere.csv")
    assert main([*words, "--labels", "elsewhere.csv"]) == 0
    entry = yaml.safe_load((folder / "cohort.yaml").read_text())["datasets"]["cohort"]
    assert (set(entry["tables"]), entry["labels"]) == ({"genes", "proteins"}, "elsewhere.csv")
    capsys.readouterr()
    assert main([*words[:-2], "--missing-views", "error", "--labels", "elsewhere.csv"]) == 1
    assert "3 of 24 samples lack a table" in capsys.readouterr().err or "lacks 's0'" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="--views x: there is no such table; valid: genes, proteins"):
        new_study(find_data("cohort", "elsewhere.csv"), Choices("sample", "subtype", views=["x"]))


def test_ids_that_most_tables_lack_are_refused(folder: Path) -> None:
    write_cohort(folder / "cohort")
    genes = pd.read_csv(folder / "cohort" / "genes.csv")
    genes["sample"] = [name if k < 5 else name.upper() for k, name in enumerate(genes["sample"])]
    people = pd.read_csv(folder / "cohort" / "people.csv")
    pd.concat([people, people.assign(sample=people["sample"].str.upper())]).drop_duplicates("sample").to_csv(
        folder / "cohort" / "people.csv", index=False
    )
    genes.to_csv(folder / "cohort" / "genes.csv", index=False)
    with pytest.raises(DataError, match=r"most of the .* samples lack one of these tables\. Are ids written alike"):
        new_study(find_data("cohort"), Choices("sample", "subtype"))


def test_groups_of_which_a_class_has_one_are_no_groups(folder: Path) -> None:
    table(folder / "cells.csv", 24, more="donor")
    rows = pd.read_csv("cells.csv")
    rows["donor"] = [f"d{k}" if label == "a" else "d0" for k, label in enumerate(rows["label"])]
    rows.loc[1, "donor"] = "d0"
    rows.to_csv("cells.csv", index=False)
    study = yaml.safe_load(new_study(find_data("cells.csv")).text)
    assert "group_column" not in study["datasets"]["cells"]
    assert study["datasets"]["cells"]["leave_out"] == ["donor"]


def test_photos_in_colour_are_read_in_colour(folder: Path) -> None:
    images(folder / "photos", cat=5, dog=5)
    for number, path in enumerate(sorted((folder / "photos").rglob("*.png"))):
        if number < 6:
            grey = decode_image(path.read_bytes(), "x")
            Image.fromarray(np.stack([grey, grey // 2, 255 - grey], axis=2)).save(path)
    (folder / "photos" / "cat" / "0.png").write_bytes(b"broken")
    made = new_study(find_data("photos"))
    assert yaml.safe_load(made.text)["datasets"]["photos"]["colour"] == "rgb"
    assert "Images are read in colour (colour: rgb) and resized to 64 x 64 pixels (resize)." in made.notes


def test_data_elsewhere_are_named_by_their_full_path(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    images(elsewhere, cat=5, dog=5)
    study = yaml.safe_load(new_study(find_data(elsewhere)).text)
    assert [entry["path"] for entry in study["datasets"].values()] == [str(elsewhere)]


def test_a_folder_of_neither(folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(DataError, match="empty: expected one sub-folder per class with images in it"):
        find_data("empty")
    (folder / "broken.csv").write_text("x,,y\n1,2,3\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"broken\.csv: column 2 has no name"):
        find_data("broken.csv")


@pytest.mark.parametrize(
    ("text", "name"),
    [("Photos 2024", "photos-2024"), ("_x_", "x"), ("ß", "data"), ("a" * 99, "a" * 60), ("..", "data")],
)
def test_names_are_valid(text: str, name: str) -> None:
    assert slug(text) == name


# --- the command


def test_init_writes_a_study_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    images(folder / "photos", cat=5, dog=5)
    assert main(["init", "photos"]) == 0
    said = capsys.readouterr().out
    assert "photos.yaml is written and valid. Run it: mklearn run photos.yaml" in said
    assert read_study("photos.yaml").study == "photos"
    assert main(["validate", "photos.yaml"]) == 0
    assert main(["init", "photos"]) == 1
    assert "photos.yaml: there is such a file; --force replaces it" in capsys.readouterr().err
    assert main(["init", "photos", "--force", "--name", "pets", "--output", "photos.yaml"]) == 0
    assert read_study("photos.yaml").study == "pets"


def test_init_asks_on_a_terminal_for_what_it_can_not_find(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table(folder / "cells.csv", 12, id_name="name", label="type", more="kind")
    rows = pd.read_csv("cells.csv")
    rows.assign(barcode=rows["name"] + "-1").to_csv("cells.csv", index=False)
    assert main(["init", "cells.csv"]) == 1
    assert "no column 'id': name one with --id, of name, type, kind, x, barcode." in capsys.readouterr().err
    assert main(["init", "cells.csv", "--id", "name"]) == 1
    assert "no column 'label': name one with --label, of type (2 values), kind (3 values)." in capsys.readouterr().err
    answers = {"Folder": "cells.csv", "Column of the ids": "name", "Column of the labels": "type"}
    asked = []

    def answer(question: str) -> str:
        asked.append(question)
        return answers[next(start for start in answers if question.startswith(start))]

    monkeypatch.setattr("builtins.input", answer)
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    assert main(["init"]) == 0
    assert len(asked) == 3
    assert read_study("cells.yaml").datasets["cells"].label_column == "type"  # type: ignore[union-attr]
    monkeypatch.setattr("builtins.input", lambda question: "")
    assert main(["init"]) == 1
    assert "name a folder: mklearn init FOLDER." in capsys.readouterr().err


def test_barcodes_of_aliquots_beside_those_of_patients(
    folder: Path, mirror: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = mirror / "multiview" / "miniacc"
    shutil.copy(source / "clinical.csv", folder)
    (folder / "acc").mkdir()
    for path in source.glob("*.csv.gz"):
        shutil.copy(path, folder / "acc")
    words = ["init", "acc", "--label", "cluster", "--labels", "clinical.csv"]
    assert main(words) == 1
    said = capsys.readouterr().err
    assert "its ids begin with those of clinical.csv" in said
    assert "--id-prefix 12" in said
    assert main([*words, "--id-prefix", "12"]) == 0
    said = capsys.readouterr().out
    assert "78 samples of 2 classes; the smallest has 35 samples." in said
    assert "are they ids" not in said  # 72 miRNAs have another count in each sample
    assert main(["validate", "acc.yaml"]) == 0
    assert main([*words, "--id-prefix", "9", "--force"]) == 1
    assert "'TCGA-OR-A5J1' and 'TCGA-OR-A5J2' are one sample" in capsys.readouterr().err


def test_equal_digits_are_counted_and_kept_together(
    folder: Path, mirror: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Six pairs of mfeat are equal in all views."""
    source = mirror / "multiview" / "mfeat"
    tables = {path.name.partition(".")[0]: str(path) for path in source.glob("*.csv.gz")}
    entry = {"kind": "feature_tables", "tables": tables, "labels": str(source / "samples.csv")}
    study = {"study": "mfeat", "datasets": {"mfeat": entry}, "methods": {"svc": {"kind": "kernel_svc"}}}

    def said(protocol: str, **more: str) -> str:
        protocols = {"five": {"kind": protocol, "folds": 5}}
        path = folder / "mfeat.yaml"
        path.write_text(yaml.safe_dump(study | {"protocols": protocols, "datasets": {"mfeat": entry | more}}))
        assert main(["validate", str(path)]) == 0
        return capsys.readouterr().out

    plain = said("k_fold")
    assert "6 samples repeat another one in every view ('mfeat-0774' is 'mfeat-0605'; " in plain
    assert "of 5 splits have equal samples on both sides" in plain
    assert "splits" not in said("group_k_fold", duplicates="group")


def test_files_of_other_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = [f"c{number}" for number in range(12)]
    obs = pd.DataFrame({"cell_type": ["T", "B"] * 6}, index=ids)
    X = np.random.default_rng(0).random((12, 3))
    write_h5ad(folder / "cells.h5ad", X, obs)
    assert main(["init", "cells.h5ad", "--label", "cell_type"]) == 0
    entry = yaml.safe_load((folder / "cells.yaml").read_text())["datasets"]["cells"]
    assert entry == {"kind": "feature_tables", "tables": {"cells": "cells.h5ad"}, "label_column": "cell_type"}
    parts = {"RNA": (X, obs.iloc[:, :0]), "adt": (X[:10], obs.iloc[:10, :0])}
    write_h5mu(folder / "both.h5mu", parts, obs)
    assert main(["init", "both.h5mu", "--missing-views", "error"]) == 1
    assert "2 of 12 samples lack a table. If that is so, set missing_views" in capsys.readouterr().err
    assert main(["init", "both.h5mu"]) == 0
    entry = yaml.safe_load((folder / "both.yaml").read_text())["datasets"]["both"]
    assert entry["missing_views"] == "mean"
    assert entry["tables"] == {name.lower(): {"path": "both.h5mu", "array": name} for name in ("RNA", "adt")}
    capsys.readouterr()
    assert main(["validate", "cells.yaml", "both.yaml"]) == 0
    said = capsys.readouterr().out
    assert "both: 12 samples of 2 classes: B 6, T 6" in said
    assert "note: 2 of 12 samples lack a table and are at the mean" in said


@pytest.mark.parametrize(
    ("place", "words", "sentence"),
    [
        (
            "photos",
            ["--label", "type", "--group", "person", "--labels", "people.csv", "--measure", "kernel"],
            "photos holds images, and its sub-folders are the classes: omit --label, --group, --labels, --measure.",
        ),
        (
            "pairs",
            ["--views", "array", "--missing-views", "drop", "--impute", "mean"],
            "pairs holds square matrices, not tables of features: omit --views, --missing-views, --impute.",
        ),
        (
            "cells.csv",
            ["--measure", "kernel", "--impute", "mean"],
            "cells.csv holds tables of features, and no square symmetric matrix: omit --measure.",
        ),
    ],
)
def test_options_for_other_data_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], place: str, words: list[str], sentence: str
) -> None:
    images(folder / "photos", cat=5, dog=5)
    write_matrices(folder / "pairs", "kernel")
    table(folder / "cells.csv", 12)
    assert main(["init", place, *words]) == 1
    assert sentence in capsys.readouterr().err
    assert not list(folder.glob("*.yaml"))


def test_files_that_are_no_tables_are_named(folder: Path) -> None:
    """Kills: a table whose suffix is in capitals, which is left out without a word."""
    Path("cohort").mkdir()
    table(Path("cohort/blood.csv"), 24)
    for name in ("imaging.CSV", "other.xlsx"):
        Path("cohort", name).touch()
    (*_, last) = new_study(find_data("cohort")).notes
    assert last.startswith("Left out, because they are no tables (")
    assert last.endswith("'imaging.CSV', 'other.xlsx'.")


def test_groups_that_some_samples_lack_are_named_and_not_taken(folder: Path) -> None:
    table(Path("cells.csv"), 24, more="patient")
    text = Path("cells.csv").read_text(encoding="utf-8")
    Path("cells.csv").write_text(text.replace(",p2,", ",,", 1), encoding="utf-8")
    made = new_study(find_data("cells.csv"))
    assert "group_column" not in made.text
    assert "'patient' has 6 values; --group patient holds out whole ones, once every sample has one." in made.notes

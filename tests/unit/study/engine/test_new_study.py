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
from mklearn.study.data.readers.content import decode_image
from mklearn.study.engine.data_check import check_data
from mklearn.study.engine.new_study import Choices, new_study
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study, read_study
from mklearn.study.yaml_file import read_yaml


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
    made = new_study("My Photos")
    entry = {"kind": "image_folder", "path": "My Photos", "colour": "grey", "resize": {"shape": [64, 64]}}
    assert yaml.safe_load(made.text) == {
        "study": "my-photos", "datasets": {"my-photos": entry}, "final": {"method": "multi-view"}
    }  # fmt: skip
    assert made.notes == (
        "11 samples of 2 classes; the smallest has 5 samples.",
        "Images are read with colour: grey, and resized to 64 x 64 pixels (resize).",
    )
    assert made.text.startswith(f"# {made.notes[0]}\n")
    images(folder / "v1.2", cat=5, dog=5)
    assert new_study("v1.2").name == "v1.2"


def test_small_classes_have_fewer_folds(folder: Path) -> None:
    images(folder / "photos", cat=6, dog=3)
    study = yaml.safe_load(new_study("photos").text)
    assert study["protocols"] == {"3-fold": {"kind": "k_fold", "folds": 3}}
    images(folder / "photos", owl=1)
    with pytest.raises(DataError, match="class 'owl' has 1 sample: cross-validation needs 2"):
        new_study("photos")


def test_a_table_and_its_columns(folder: Path) -> None:
    table(folder / "Cell shapes.csv", 24, id_name="name", label="type", more="patient")
    made = new_study("Cell shapes.csv", Choices(label_column="type"), name="cells")
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
    made = new_study("tables")
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
    entry = yaml.safe_load(new_study("tables").text)["datasets"]["tables"]
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


def test_square_tables_are_matrices_if_it_is_said(folder: Path) -> None:
    names = write_matrices(folder / "pairs", "kernel")
    made = new_study("pairs", Choices(measure="kernel"))
    study = yaml.safe_load(made.text)
    entry = study["datasets"]["pairs"]
    assert (entry["kind"], entry["measure"], entry["labels"]) == ("precomputed", "kernel", "pairs/people.csv")
    assert list(entry["matrices"]) == names
    assert "final" not in study
    (folder / "pairs" / "people.csv").unlink()
    with pytest.raises(DataError, match="no table has a column 'label' of the labels"):
        new_study("pairs", Choices(measure="kernel", label_column="label"))


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
        "cohort/people.csv holds the labels ('subtype'); its other columns are no features: 'patient_id', 'age'",
        "Folds hold out whole groups by column 'patient_id'",
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
    assert "cohort/people.csv holds the labels ('age'); its other columns are no features" in said
    assert main(["validate", "cohort.yaml"]) == 0
    assert "24 samples in 12 groups with numbers to predict" in capsys.readouterr().out
    study = read_study("cohort.yaml")
    assert study.evaluation.choose_by == "r2"
    assert study.protocols["5-fold"].kind == "group_k_fold"


def test_options_decide(folder: Path) -> None:
    write_cohort(folder / "cohort")
    words = ["init", "cohort", "--force", "--group", ""]
    assert main([*words, "--views", "genes", "people"]) == 0
    entry = yaml.safe_load((folder / "cohort.yaml").read_text())["datasets"]["cohort"]
    assert set(entry["tables"]) == {"genes", "people"}
    assert not {"labels", "group_column"} & set(entry)
    assert entry["leave_out"] == ["chip", "patient_id", "site"]
    (folder / "cohort" / "people.csv").rename(folder / "elsewhere.csv")
    assert main([*words, "--labels", "elsewhere.csv"]) == 0
    entry = yaml.safe_load((folder / "cohort.yaml").read_text())["datasets"]["cohort"]
    assert (set(entry["tables"]), entry["labels"]) == ({"genes", "proteins"}, "elsewhere.csv")
    with pytest.raises(ConfigError, match="--views x: there is no such table; valid: genes, proteins"):
        new_study("cohort", Choices(labels="elsewhere.csv", views=["x"]))


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
        new_study("cohort")


def test_photos_in_colour_are_read_in_colour(folder: Path) -> None:
    images(folder / "photos", cat=5, dog=5)
    for number, path in enumerate(sorted((folder / "photos").rglob("*.png"))):
        if number < 6:
            grey = decode_image(path.read_bytes(), "x")
            Image.fromarray(np.stack([grey, grey // 2, 255 - grey], axis=2)).save(path)
    (folder / "photos" / "cat" / "0.png").write_bytes(b"broken")
    made = new_study("photos")
    assert yaml.safe_load(made.text)["datasets"]["photos"]["colour"] == "rgb"


def test_data_elsewhere_are_named_by_their_full_path(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    images(elsewhere, cat=5, dog=5)
    study = yaml.safe_load(new_study(elsewhere).text)
    assert [entry["path"] for entry in study["datasets"].values()] == [str(elsewhere)]


def test_a_folder_of_neither(folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(DataError, match="empty: expected one sub-folder per class with images in it"):
        new_study("empty")
    (folder / "broken.csv").write_text("x,,y\n1,2,3\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"broken\.csv: column 2 has no name"):
        new_study("broken.csv")


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
    (folder / "elsewhere").mkdir()
    for output, path in (("photos/pets.yaml", "."), ("elsewhere/pets.yaml", str(folder / "photos"))):
        assert main(["init", "photos", "--output", output]) == 0
        assert read_yaml(output)["datasets"]["photos"]["path"] == path
        assert main(["validate", output]) == 0


def test_columns_that_have_to_be_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table(folder / "cells.csv", 12, id_name="well", label="type", more="kind")
    assert main(["init", "cells.csv"]) == 1
    assert "no column 'id': name one with --id, of 'well', 'type', 'kind'" in capsys.readouterr().err
    assert main(["init", "cells.csv", "--id", "well"]) == 1
    assert "name one with --label or --target, of type (2 values), kind (3" in capsys.readouterr().err
    images(folder / "photos", cat=5, dog=5)
    assert main(["init", "photos", "--label", "type"]) == 1
    assert "photos holds images, whose sub-folders are the classes: omit the options" in capsys.readouterr().err


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
    assert main(["init", "both.h5mu"]) == 0
    entry = yaml.safe_load((folder / "both.yaml").read_text())["datasets"]["both"]
    assert entry["missing_views"] == "mean"
    assert entry["tables"] == {name.lower(): {"path": "both.h5mu", "array": name} for name in ("RNA", "adt")}
    capsys.readouterr()
    assert main(["validate", "cells.yaml", "both.yaml"]) == 0
    said = capsys.readouterr().out
    assert "both: 12 samples of 2 classes: B 6, T 6" in said
    assert "note: 2 of 12 samples lack a table and are at the mean" in said


def test_files_that_are_no_tables_are_named(folder: Path) -> None:
    """Kills: a table whose suffix is in capitals, which is left out without a word."""
    Path("cohort").mkdir()
    table(Path("cohort/blood.csv"), 24)
    for name in ("imaging.CSV", "other.xlsx"):
        Path("cohort", name).touch()
    (*_, last) = new_study("cohort").notes
    assert last.startswith("Left out, because they are no tables (")
    assert last.endswith("'imaging.CSV', 'other.xlsx'.")


def test_groups_that_some_samples_lack_are_not_taken(folder: Path) -> None:
    table(Path("cells.csv"), 24, more="patient")
    text = Path("cells.csv").read_text(encoding="utf-8")
    Path("cells.csv").write_text(text.replace(",p2,", ",,", 1), encoding="utf-8")
    assert "group_column" not in new_study("cells.csv").text

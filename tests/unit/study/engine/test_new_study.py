"""Study files for the user's own data: valid, and as the data need them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image
from tests.unit.study.data.annotated_files import write_h5ad, write_h5mu

from mklearn.__main__ import main
from mklearn.errors import DataError
from mklearn.study.config.reading import read_study
from mklearn.study.engine.new_study import find_data, new_study, slug


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
    assert yaml.safe_load(made.text) == {
        "study": "my-photos", "datasets": {"my-photos": {"kind": "image_folder", "path": "My Photos"}}
    }  # fmt: skip
    assert made.notes == ("11 samples of 2 classes; the smallest has 5 samples.",)
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
    assert found.columns == {"cell-shapes": ("name", "type", "patient", "x")}
    made = new_study(found, name="cells", id_column="name", label_column="type", group_column="patient")
    study = yaml.safe_load(made.text)
    assert study["datasets"]["cells"] == {
        "kind": "feature_tables", "tables": {"cell-shapes": "Cell shapes.csv"}, "id_column": "name",
        "label_column": "type", "group_column": "patient",
    }  # fmt: skip
    assert study["protocols"] == {"5-fold": {"kind": "group_k_fold", "folds": 5}}
    assert made.notes[0] == "24 samples of 2 classes; the smallest has 6 groups."


def test_a_folder_of_tables_with_a_file_of_labels(folder: Path) -> None:
    (folder / "tables").mkdir()
    table(folder / "tables" / "shape.csv", 12, label="")
    np.savez(folder / "tables" / "colour.npz", id=[f"s{k}" for k in range(12)], x=np.eye(12))
    rows = "".join(f"s{k},{'ab'[k % 2]}\n" for k in range(12))
    (folder / "tables" / "classes.csv").write_text(f"id,label\n{rows}", encoding="utf-8")
    entry = yaml.safe_load(new_study(find_data("tables")).text)["datasets"]["tables"]
    assert entry == {
        "kind": "feature_tables", "tables": {"colour": "tables/colour.npz", "shape": "tables/shape.csv"},
        "labels": "tables/classes.csv",
    }  # fmt: skip


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
    table(folder / "cells.csv", 12, id_name="name", label="type")
    assert main(["init", "cells.csv"]) == 1
    assert "no column 'id': name one with --id, of name, type, x." in capsys.readouterr().err
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
    assert main(["init", "both.h5mu", "--label", "cell_type"]) == 1
    assert "2 of 12 samples lack a table. If that is so, set missing_views" in capsys.readouterr().err
    assert main(["init", "both.h5mu", "--label", "cell_type", "--missing-views", "mean"]) == 0
    entry = yaml.safe_load((folder / "both.yaml").read_text())["datasets"]["both"]
    assert entry["missing_views"] == "mean"
    assert entry["tables"] == {name.lower(): {"path": "both.h5mu", "array": name} for name in ("RNA", "adt")}
    capsys.readouterr()
    assert main(["validate", "cells.yaml", "both.yaml"]) == 0
    said = capsys.readouterr().out
    assert "both: 12 samples of 2 classes: B 6, T 6" in said
    assert "note: 2 of 12 samples lack a table and are at the mean" in said

"""`mklearn predict`: predictions of images and tables, those of the library, and a sentence for everything else."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from tests.unit.study.data.annotated_files import write_h5ad
from tests.unit.study.prediction.conftest import cells, digits, make, write_images
from tests.unit.study.small_study import run_study

from mklearn.__main__ import main
from mklearn.base.side_by_side import SideBySide
from mklearn.classifiers import KernelSVC, MultiViewClassifier
from mklearn.descriptors.hog import hog
from mklearn.kernels import Views
from mklearn.regressors import KernelRidge
from mklearn.regressors.baselines import mean_regressor
from mklearn.saved_models import load_model, save_model
from mklearn.study.cli.predictions import _caution, _success
from mklearn.study.data.samples import some
from mklearn.study.data.text_tables import MISSING_CODES
from mklearn.study.prediction import predict
from mklearn.study.prediction.new_samples import NewSamples
from mklearn.study.prediction.predictions import prediction_frame
from mklearn.subspace import KernelFDA
from mklearn.survival import KaplanMeierSurvival, MultiViewSurvival

PIXELS, DIGITS = load_digits(return_X_y=True)
KNOWN, NEW = {"pixels": PIXELS[:60]}, {"pixels": PIXELS[60:70]}
MODEL = "results/cells/model.mklearn"
SAMPLES = NewSamples(X=Views(NEW), ids=np.arange(10))


def predicted(folder: Path, method: str, *words: str) -> pd.DataFrame:
    output = folder / "out.csv"
    assert main(["predict", str(folder / f"results/{method}/model.mklearn"), *words, "--output", str(output)]) == 0
    return pd.read_csv(output, dtype={"id": str, "label": str})


def test_probabilities_and_sets_where_the_model_has_them() -> None:
    model = MultiViewClassifier().fit(KNOWN, np.array(["even", "odd"])[DIGITS[:60] % 2])
    frame = prediction_frame(model, SAMPLES)
    assert list(frame) == ["id", "label", "set_90", "probability_even", "probability_odd"]
    np.testing.assert_array_equal(frame.iloc[:, 3:], model.predict_proba(NEW))
    sets = {(False, False): "", (True, False): "even", (False, True): "odd", (True, True): "even|odd"}
    assert frame["set_90"].tolist() == [sets[tuple(row)] for row in model.predict_set(NEW).tolist()]
    assert len(set(frame["set_90"])) > 2
    machine = KernelSVC(kernels={"pixels": "gaussian"}).fit(KNOWN, DIGITS[:60])
    frame = prediction_frame(machine, SAMPLES)
    assert list(frame) == ["id", "label", *(f"decision_{label}" for label in machine.classes_)]
    np.testing.assert_array_equal(frame.iloc[:, 2:], machine.decision_function(NEW))


@pytest.mark.parametrize(
    ("model", "ends"),
    [
        (KernelRidge(kernels={"pixels": "gaussian"}), ["low_90", "high_90"]),
        (make_pipeline(SideBySide(["pixels"]), mean_regressor()), []),
    ],
)
def test_numbers_have_an_interval_where_the_model_has_one(model: Any, ends: list[str]) -> None:
    model = model.fit(KNOWN, DIGITS[:60])
    frame = prediction_frame(model, SAMPLES)
    assert list(frame) == ["id", "predicted", *ends]
    np.testing.assert_array_equal(frame["predicted"], model.predict(NEW))


def test_survival_has_a_risk_and_probabilities_at_four_times() -> None:
    model = MultiViewSurvival().fit(KNOWN, 1.0 + DIGITS[:60])
    frame = prediction_frame(model, SAMPLES)
    assert list(frame) == ["id", "risk", "survival_3", "survival_5", "survival_7", "survival_9"]
    np.testing.assert_array_equal(frame.iloc[:, 1], model.predict(NEW))
    np.testing.assert_array_equal(frame.iloc[:, 2:], model.predict_survival_function(NEW, [3, 5, 7, 9]))


def test_a_pipeline_has_survival_and_samples_with_times_are_scored() -> None:
    model = make_pipeline(SideBySide(["pixels"]), KaplanMeierSurvival()).fit(Views(KNOWN), 1.0 + DIGITS[:60])
    samples = SAMPLES._replace(labels=np.array(["3.0", "-7.0", "2.0", *[""] * 7]))
    frame = prediction_frame(model, samples)
    assert list(frame) == ["id", "risk", "survival_3", "survival_5", "survival_7", "survival_10"]
    np.testing.assert_allclose(frame["survival_5"], np.mean(1.0 + DIGITS[:60] > 5))
    frame["risk"] = [3.0, 1.0, 2.0, *[9.0] * 7]
    assert _success(frame, samples, model) == "Harrell's C 0.6667 (3 samples with a time)\n"
    alive = samples._replace(labels=np.array(["-3.0", *[""] * 9]))
    assert _success(frame, alive, model).startswith("no Harrell's C (1 samples with a time): the concordance needs two")


def test_samples_with_views_without_weight_only() -> None:
    X = Views({"used": np.array([[1.0], [np.nan]]), "other": np.ones((2, 1))})
    model = SimpleNamespace(view_shares_={"used": 1.0, "other": 0.0})
    assert [note[:42] for note in _caution(model, NewSamples(X=X, ids=np.arange(2)))] == [
        "1 sample(s) have only views without weight"
    ]


@pytest.mark.full
def test_a_descriptor_that_learned_words_describes_new_images(pictures: Path) -> None:
    frame = predicted(pictures, "words", str(pictures / "train"))
    model = load_model(pictures / "results/words/model.mklearn")
    assert any(name.startswith("words/") for name in model.arrays)
    truth = frame["id"].str.split("/").str[0]
    assert (frame["label"] == truth).mean() > 0.5
    (made,) = (pictures / "results/cache/descriptors").glob("*/words-*/1of1.npz")
    with np.load(made) as features:
        expected = model.estimator.predict({"words": features["features"]})
    assert frame["label"].tolist() == expected.tolist()


@pytest.mark.full
def test_broken_images_have_their_reason(pictures: Path, tmp_path: Path, mklearn: Callable[..., str]) -> None:
    whole = predicted(pictures, "kfd", str(pictures / "new"))
    model = pictures / "results/kfd/model.mklearn"
    printed = mklearn("predict", model, pictures / "new" / whole["id"][7])
    assert printed == f"id,label\n{Path(whole['id'][7]).name},{whole['label'][7]}\n"
    shutil.copytree(pictures / "new", tmp_path / "new")
    broken = tmp_path / "new" / whole["id"][7]
    broken.write_bytes(broken.read_bytes()[:60])
    printed = mklearn("predict", model, tmp_path / "new", "--output", tmp_path / "out.csv", code=1)
    for words in (f"mklearn: {broken}: a corrupt or truncated image", f"19 predictions: {tmp_path / 'out.csv'}"):
        assert words in printed
    frame = pd.read_csv(tmp_path / "out.csv", dtype={"id": str, "label": str})
    assert frame["problem"].notna().tolist() == [False] * 19 + [True]
    assert frame["problem"][19].startswith(f"{broken}: a corrupt or truncated image")
    assert frame["id"][19] == whole["id"][7]
    pd.testing.assert_frame_equal(frame.drop(columns="problem")[:19], whole.drop(index=7).reset_index(drop=True))


@pytest.mark.full
def test_unusable_images_and_models(pictures: Path, tmp_path: Path, mklearn: Callable[..., str]) -> None:
    model = pictures / "results/kfd/model.mklearn"
    for part in ("deep", "empty"):
        (tmp_path / part).mkdir()
    Image.fromarray(np.zeros((8, 8), dtype=np.uint16)).save(tmp_path / "deep" / "a.png")
    damaged, foreign = tmp_path / "damaged.mklearn", tmp_path / "foreign.mklearn"
    damaged.write_bytes(model.read_bytes()[:5000])
    save_model(KernelFDA(kernels="linear").fit(np.eye(6), [0, 1] * 3), foreign, {"of": "the library"})
    for words, sentence in (
        ((model, tmp_path / "deep"), "and those of the training images were uint8"),
        ((model, tmp_path / "empty"), "no images in it"),
        ((model, tmp_path / "none"), "none: the model takes one folder of images, or one image"),
        ((model, tmp_path / "a", tmp_path / "b"), "the model takes one folder of images, or one image"),
        ((model, tmp_path, "--output", "x.txt"), "--output x.txt: expected a name that ends in .csv or .parquet"),
        ((damaged, tmp_path), f"{damaged}: damaged"),
        ((foreign, tmp_path), "not a model of a study"),
    ):
        printed = mklearn("predict", *words, code=1)
        assert sentence in printed
        assert (printed[:9], printed.count("\n")) == ("mklearn: ", 1)


# --- tables


def views_of(tables: Path, part: str) -> dict[str, np.ndarray]:
    names = ("upper", "lower")
    return {name: pd.read_csv(tables / part / f"{name}.csv").filter(like=name[1:]).to_numpy() for name in names}


def test_tables_with_labels_and_their_accuracy(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = [f"{name}={tables / 'new' / f'{name}.csv'}" for name in ("upper", "lower")]
    frame = predicted(tables, "cells", *pairs)
    printed = capsys.readouterr().out
    truth = pd.read_csv(tables / "new" / "upper.csv")
    right = (frame["label"].to_numpy() == truth["label"].to_numpy()).sum()
    assert f"({right} of 20 samples with a label)" in printed
    assert right >= 15
    kernels = {name: {"feature_scaling": "standard"} for name in ("upper", "lower")}
    labels = pd.read_csv(tables / "train" / "upper.csv")["label"]
    estimator = KernelSVC(kernels=kernels).fit(views_of(tables, "train"), labels)
    assert frame["label"].tolist() == estimator.predict(views_of(tables, "new")).tolist()
    folder = predicted(tables, "cells", str(tables / "new"))
    pd.testing.assert_frame_equal(folder, frame)
    assert capsys.readouterr().err == ""
    predicted(tables, "cells", str(tables / "train"))
    assert "80 of 80 samples have ids of training samples" in capsys.readouterr().err
    pd.testing.assert_frame_equal(predict(tables / MODEL, tables / "new"), frame)
    spelt = truth.assign(label="Class " + truth["label"].astype(str))
    spelt.to_csv(tmp_path / "upper.csv", index=False)
    predicted(tables, "cells", f"upper={tmp_path / 'upper.csv'}", pairs[1])
    assert "(0 of 20 samples with a label; no class of the model: 'Class " in capsys.readouterr().out
    truth.assign(label=0.5).to_csv(tmp_path / "upper.csv", index=False)
    pd.testing.assert_frame_equal(predicted(tables, "cells", f"upper={tmp_path / 'upper.csv'}", pairs[1]), frame)
    assert "predictions are not compared with labels: " in capsys.readouterr().err


def test_rows_and_columns_in_any_order(tables: Path, tmp_path: Path, mklearn: Callable[..., str]) -> None:
    expected = predicted(tables, "cells", str(tables / "new")).set_index("id")
    upper, lower = (pd.read_csv(tables / "new" / f"{name}.csv") for name in ("upper", "lower"))
    mixed = lower.sample(frac=1, random_state=0).sample(frac=1, axis=1, random_state=0)
    mixed.to_csv(tmp_path / "lower.csv", index=False)
    upper.to_parquet(tmp_path / "upper.parquet", index=False)
    pairs = f"lower={tmp_path / 'lower.csv'}", f"upper={tmp_path / 'upper.parquet'}"
    found = predicted(tables, "cells", *pairs).set_index("id")
    pd.testing.assert_frame_equal(found.loc[expected.index], expected)
    upper.merge(lower, on="id").to_csv(tmp_path / "all.csv", index=False)
    pd.testing.assert_frame_equal(predicted(tables, "cells", str(tmp_path / "all.csv")).set_index("id"), expected)
    for name, table in {"upper": upper, "lower": lower}.items():
        np.savez(tmp_path / f"{name}.npz", X=table.filter(regex=r"\d").to_numpy())
    arrays = [f"{name}={tmp_path / name}.npz" for name in ("upper", "lower")]
    assert "samples in several files need ids" in mklearn("predict", tables / MODEL, *arrays, code=1)
    lower.drop(columns="id").to_csv(tmp_path / "lower.csv", index=False)
    assert "lower.csv: no column 'id'" in mklearn("predict", tables / MODEL, *pairs, code=1)


def test_features_in_rows_and_labels_of_new_samples(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], mklearn: Callable[..., str]
) -> None:
    for part in ("train", "new"):
        shutil.copytree(tables / part, tmp_path / part)
        lower = pd.read_csv(tmp_path / part / "lower.csv", index_col="id").T
        lower.index = lower.index.str.removeprefix("lower") + ".0" * (part == "new")  # equal as numbers
        lower.to_csv(tmp_path / part / "lower.csv", index_label="id")
        upper = pd.read_csv(tmp_path / part / "upper.csv")
        upper.pop("label").to_frame().assign(id=upper["id"]).to_csv(tmp_path / part / "people.csv", index=False)
        upper.to_csv(tmp_path / part / "upper.csv", index=False)
    (tmp_path / "new" / "upper.csv").rename(tmp_path / "new" / "upper.tsv")
    (tmp_path / "new" / "upper").mkdir()  # no table
    study = cells()
    study["datasets"]["own"]["tables"]["lower"] = {"path": "train/lower.csv", "transpose": True}
    study["datasets"]["own"]["labels"] = "train/people.csv"
    make(study, tmp_path)
    new = [predicted(folder, "cells", str(folder / "new")) for folder in (tmp_path, tables)]
    pd.testing.assert_frame_equal(*new)
    accuracies = [line for line in capsys.readouterr().out.splitlines() if line.startswith("accuracy")]
    assert accuracies[0].endswith("of 20 samples with a label)")
    assert accuracies[0] == accuracies[1]
    (tmp_path / "new" / "people.csv").write_text("id,label\na,0\na,1\n")
    pd.testing.assert_frame_equal(predicted(tmp_path, "cells", str(tmp_path / "new")), new[0])
    assert "predictions are not compared with labels: " in capsys.readouterr().err
    pd.concat([lower, lower[:1].rename(index="{}0".format)]).to_csv(tmp_path / "new" / "lower.csv", index_label="id")
    assert "lacks 32 of the 32 features" in mklearn("predict", tmp_path / MODEL, tmp_path / "new", code=1)


def test_tables_that_lack_something(tables: Path, tmp_path: Path, mklearn: Callable[..., str]) -> None:
    model, lower = tables / MODEL, tmp_path / "lower.csv"
    table = pd.read_csv(tables / "new" / "lower.csv")
    values = table.columns[1:]
    for changed, sentence in (
        (table.drop(columns=values[:7]), "lacks 7 of the 32 features of view 'lower': 'lower0', 'lower1'"),
        (table.rename(columns=lambda name: name.replace("l", "L")), "lacks 32 of the 32 features of view 'lower': "
         f"{some(values)}; {some(values, 3)} differ from others only in case, leading zeros or R's names"),
        (table.assign(lower7="x"), "columns that are not numbers: 'lower7'"),
        (table.assign(lower7=table["lower7"].mask(table.index == 3)), "1 value missing or infinite: columns 'lower7'"),
        (table.assign(**{name: table[name].mask(table.index == 3) for name in values}), "no value at all for the sam"),
    ):  # fmt: skip
        changed.to_csv(lower, index=False)
        assert f"{lower}: {sentence}" in mklearn("predict", model, f"lower={lower}", code=1)
    for wrong in ([f"left={lower}"], [lower, lower], [f"lower={lower}", f"lower={lower}"], ["lower="]):
        printed = mklearn("predict", model, *wrong, code=1)
        assert "expected one file, one folder, or VIEW=FILE for views of the model: lower, upper, each once" in printed
    assert "there is no such file" in mklearn("predict", model, tmp_path / "x.csv", code=1)
    table.assign(id=table["id"] + "-01A").to_csv(lower, index=False)
    printed = mklearn("predict", model, f"lower={lower}", f"upper={tables / 'new' / 'upper.csv'}", code=1)
    assert f"{lower}: none of its ids" in printed
    table.set_index("id").T.rename_axis("id").to_csv(lower)
    printed = mklearn("predict", model, f"lower={lower}", code=1)
    assert f"{lower} looks transposed: 32 of its samples are named as" in printed
    (tmp_path / "empty").mkdir()
    assert "has no file of the study, by its name: 'lower.csv'" in mklearn("predict", model, tmp_path / "empty", code=1)


@pytest.mark.full
def test_features_of_annotated_data_go_by_name(tmp_path: Path, mklearn: Callable[..., str]) -> None:
    """AnnData names each feature, and two files rarely have the same genes in the same order. Ids are cut alike."""
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 10)
    X = rng.normal(size=(20, 4)) + 2 * (y == "b")[:, None] * [1, -1, 2, 0]

    def write(path: Path, order: list[int], names: list[str]) -> str:
        obs = pd.DataFrame({"label": y}, index=[f"s{number:02}-{path.stem}" for number in range(20)])
        return str(write_h5ad(path, X[:, order], obs, [names[place] for place in order]))

    genes = ["g0", "g1", "g2", "g3"]
    write(tmp_path / "train.h5ad", [0, 1, 2, 3], genes)
    entry = {"kind": "feature_tables", "tables": {"rna": "train.h5ad"}, "id_prefix": 3}
    model = make(cells() | {"datasets": {"own": entry}}, tmp_path)
    expected = mklearn("predict", model, tmp_path / "train.h5ad")
    assert mklearn("predict", model, write(tmp_path / "new.h5ad", [3, 1, 0, 2], genes)) == expected
    others = write(tmp_path / "new.h5ad", [0, 1, 2, 3], ["g0", "g1", "g2", "x"])
    assert f"{others}: lacks 1 of the 4 features of view 'rna': 'g3'" in mklearn("predict", model, others, code=1)


@pytest.mark.parametrize(
    ("factor", "shift", "n", "expected"),
    [
        (1.0, 1000.0, 20, "{} of 640 values of view 'upper' lie far outside the range of the training samples (colum"),
        (1.0, 11.0, 20, "values of view 'upper' lie far outside"),
        (1.0, 0.3, 20, None),
        (0.01, 0.0, 20, "new samples of view 'upper' vary 0.0"),
        (0.01, 0.0, 9, None),
        (1.0, 0.0, 20, None),
        ({"s": 1}, 999.0, 20, "that may mean missing ones: '999 in {column} of {id}'; leave these cells empty"),
        ({"s": 1}, -999.0, 20, "'-999 in {column} of {id}'"),
        ({"s": 20}, 999.0, 20, "that may mean missing ones: '999 in {column} of {id}', "),
        ({"s": 1}, 998.0, 20, None),
        ({"s": 1}, 4.0, 20, None),
        ({"s": 11}, 18.0, 20, "half of the values of view 'upper' in columns '{column}' lie outside the training"),
        ({"s": 20}, 16.5, 20, "half of the values of view 'upper' in columns '{column}' lie outside"),
        ({"s": 1}, 18.0, 20, None),
        ({"s": 9}, 998.0, 20, "9 of 640 values of view 'upper' lie far outside"),
        ({"s": 9}, -9999.0, 20, "mklearn: view 'upper' has values outside the range of the training samples that may"),
    ],
)
def test_unlikely_values_are_noted(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], factor: Any, shift: float, n: int,
    expected: str | None,
) -> None:  # fmt: skip
    """Values have another scale and origin; or the first values of one column are the given one."""
    upper, train = (pd.read_csv(tables / part / "upper.csv") for part in ("new", "train"))
    upper = upper[:n].copy()
    numbers = upper.columns.difference(["id", "label"])
    varying = train[numbers].nunique() > 1
    column = varying.idxmax()
    if isinstance(factor, dict):
        upper.loc[: factor["s"] - 1, column] = shift
    else:
        upper[numbers] = factor * upper[numbers] + shift
    upper.to_csv(tmp_path / "upper.csv", index=False)
    predicted(tables, "cells", f"upper={tmp_path / 'upper.csv'}", f"lower={tables / 'new/lower.csv'}")
    printed = capsys.readouterr().err
    if expected is None:
        assert not any(words in printed for words in ("in the same unit", "missing ones"))
    else:
        assert expected.format(20 * varying.sum(), column=column, id=upper["id"][0]) in printed
        named = "far outside" in printed or shift in MISSING_CODES
        assert not (named and "half of the values" in printed), "one note for one reason"
    assert "of view 'lower'" not in printed


def test_a_missing_view_is_completed(tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tables / MODEL
    upper, lower = (pd.read_csv(tables / "new" / f"{name}.csv") for name in ("upper", "lower"))
    numbers = views_of(tables, "new")
    kernels = {
        f"gauss-{name}": {"view": name, "feature_scaling": "standard", "missing_views": "mean"} for name in numbers
    }
    labels = pd.read_csv(tables / "train" / "upper.csv")["label"]
    fitted = KernelSVC(kernels=kernels).fit(views_of(tables, "train"), labels)
    for lacking in (np.ones(20, dtype=bool), np.arange(20) < 7):
        numbers["lower"] = np.where(lacking[:, None], np.nan, lower.drop(columns="id").to_numpy())
        there = lower[~lacking]
        sources = [f"upper={tables / 'new' / 'upper.csv'}"]
        if len(there):
            there.to_csv(tmp_path / "lower.csv", index=False)
            sources.append(f"lower={tmp_path / 'lower.csv'}")
        assert main(["predict", str(path), *sources]) in (0, None)
        printed = capsys.readouterr()
        frame = pd.read_csv(io.StringIO(printed.out)).set_index("id").loc[upper["id"]]
        assert frame["label"].tolist() == fitted.predict(numbers).tolist()
        no_file = "" if len(there) else " (no file lower.csv)"
        assert f"view 'lower' is missing for {lacking.sum()} samples{no_file}; it is filled in" in printed.err


@pytest.mark.parametrize("way", ["absent", "empty"])
def test_missing_features_are_at_their_means_over_the_training_samples(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    gone = ["lower3", "lower12", "lower28"]
    new, train = (pd.read_csv(tables / part / "lower.csv") for part in ("new", "train"))
    lacking = new.drop(columns=gone) if way == "absent" else new.assign(**dict.fromkeys(gone, np.nan))
    frames = []
    for table in (new.assign(**train[gone].mean()), lacking):
        table.to_csv(tmp_path / "lower.csv", index=False)
        pairs = f"upper={tables / 'new' / 'upper.csv'}", f"lower={tmp_path / 'lower.csv'}"
        frames.append(predicted(tables, "cells", *pairs))
    pd.testing.assert_frame_equal(*frames)
    printed = capsys.readouterr().err
    assert "missing: 3 of the 32 features of view 'lower': 'lower3', 'lower12', 'lower28'; they are at" in printed


@pytest.mark.full
def test_a_method_on_features_needs_all_views(tables: Path, mklearn: Callable[..., str]) -> None:
    study = cells() | {"study": "sides", "methods": {"lda": {"kind": "standardised_shrinkage_lda"}}}
    model = make(study, tables)
    printed = mklearn("predict", model, f"upper={tables / 'new' / 'upper.csv'}", code=1)
    assert "this model can't predict such samples (" in printed
    assert "view 'lower' is missing for 20 samples" in printed


def test_images_with_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str], mklearn: Callable[..., str]) -> None:
    images, y, held = digits()
    X = Views({"hog": hog(images, cell=4), "network": images.reshape(len(y), -1)[:, ::2] / 16.0})
    names = np.array([f"{label}/{number}.png" for number, label in enumerate(y)])
    for part, rows in {"train": ~held, "new": held}.items():
        write_images(tmp_path / part, images[rows], names[rows].tolist())
    table, new, model = (str(tmp_path / name) for name in ("all.csv", "new", "results/own/model.mklearn"))
    pd.DataFrame(X["network"], pd.Index(names, name="id")).add_prefix("unit").assign(label=y).to_csv(table)
    entry = {"kind": "image_folder", "path": "train", "resize": None, "tables": {"network": table}}
    study = cells() | {
        "study": "own", "datasets": {"own": entry | {"missing_views": "mean"}}, "final": {"method": "views"},
        "descriptors": {"hog": {"kind": "hog", "cell": 4}, "network": {"kind": "table", "table": "network"}},
        "methods": {"average": {"kind": "kernel_fda"}, "views": {"kind": "multi_view"}}, "kernels": None,
    }  # fmt: skip
    fits = [job.spec.get("kernels", ()) for job in run_study(tmp_path, study).of("fit")]
    assert [kernel.get("feature_scaling") for kernels in fits for kernel in kernels] == [None, "auto"]
    expected = MultiViewClassifier().fit(X[~held], y[~held].astype(str)).predict(X[held])
    assert (predicted(tmp_path, "own", new, f"network={table}")["label"] == expected).all()
    assert "rows without an image are left out: '0/1.png', " in capsys.readouterr().err
    assert (predicted(tmp_path, "own", new)["label"] == expected).mean() > 0.8
    (tmp_path / "new" / "0" / "bad.png").write_text("")
    assert "of 20 samples with a label" in mklearn("predict", model, new, table, code=1)

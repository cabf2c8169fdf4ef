"""Pairs: lists, features that are fitted on training samples alone, the file between the steps, and the plan."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA

from mklearn.base.side_by_side import SideBySide
from mklearn.errors import ConfigError, DataError
from mklearn.kernels import StackTransform, Views
from mklearn.papers.fsvm.pairs import PairFeatures, PairView, verification
from mklearn.study.data.splits import Splits
from mklearn.study.jobs import Jobs
from mklearn.study.parameters import parameter_mistakes
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.reading import check_study

RNG = np.random.default_rng(0)
TABLES = [RNG.normal(size=(40, 6)), RNG.normal(size=(40, 9))]
FIRST, SECOND = np.arange(0, 40, 2), np.arange(1, 40, 2)
TRAIN, TEST = np.arange(12), np.arange(12, 20)


# --- features


def pair_views(*tables: np.ndarray, first: np.ndarray = FIRST, second: np.ndarray = SECOND, **options: Any) -> Views:
    features = PairFeatures(**{"components": 3} | options)
    return Views([PairView(first, second, table, features) for table in tables])


def pair_features(views: Views, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of training pairs, which are fitted to them, and of test pairs."""
    made = SideBySide(**options).fit(views[TRAIN])
    return made.transform(views[TRAIN]), made.transform(views[TEST])


def test_exchanging_the_samples_of_a_pair_changes_nothing() -> None:
    swap = np.arange(20) % 3 == 0
    other = pair_views(*TABLES, first=np.where(swap, SECOND, FIRST), second=np.where(swap, FIRST, SECOND))
    for one, two in zip(pair_features(pair_views(*TABLES)), pair_features(other), strict=True):
        np.testing.assert_array_equal(one, two)
        assert one.shape[1] == 12


def test_nothing_of_test_samples_enters_the_training_features() -> None:
    changed = [table.copy() for table in TABLES]
    for table in changed:
        table[24:] = 100 * RNG.normal(size=table[24:].shape)
    (train, test), (same, _) = (pair_features(pair_views(*tables)) for tables in (TABLES, changed))
    np.testing.assert_allclose(same, train, atol=1e-12)
    changed[0][0] += 1.0  # a sample of a training pair
    assert not np.allclose(pair_features(pair_views(*changed))[1], test)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("unit_length", [False, True])
def test_components_are_those_of_training_samples_each_of_which_counts_once(whiten: bool, unit_length: bool) -> None:
    first = np.where(np.arange(20) < 12, 0, FIRST)
    options = {"whiten": whiten, "unit_length": unit_length, "terms": ["product"]}
    found = pair_features(pair_views(TABLES[0], first=first, **options))
    learned = TABLES[0][np.r_[0, SECOND[TRAIN]]]
    expected = PCA(3, svd_solver="full", whiten=whiten).fit(learned).transform(TABLES[0])
    if unit_length:
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    # Only 6 features: the randomised decomposition is exact. Products do not depend on signs.
    for part, features in zip((TRAIN, TEST), found, strict=True):
        np.testing.assert_allclose(features, expected[first[part]] * expected[SECOND[part]], atol=1e-4)


def test_small_components_are_no_rounding_errors() -> None:
    """Power iterations that are not normalised lose them in single precision."""
    rng, deviations = np.random.default_rng(3), 10.0 ** np.linspace(0, -2.5, 60)
    table = rng.normal(size=(300, 60)) * deviations @ np.linalg.qr(rng.normal(size=(400, 60)))[0].T
    samples = np.arange(300)
    found = PairFeatures(50, unit_length=False).project(table.astype(np.float32), samples.tobytes())
    expected = PCA(50, whiten=True, svd_solver="full").fit_transform(table)
    agreement = np.abs(np.einsum("ij,ij->j", found, expected)) / (len(samples) - 1)
    np.testing.assert_allclose(agreement, 1, atol=0.01)


def test_square_roots_and_the_features_themselves() -> None:
    options = {"components": None, "unit_length": False, "terms": ["absolute_difference"], "square_root": True}
    found, _ = pair_features(pair_views(TABLES[0] ** 2, **options))
    expected = np.abs(TABLES[0])
    np.testing.assert_allclose(found, np.abs(expected[FIRST[TRAIN]] - expected[SECOND[TRAIN]]), atol=1e-6)
    with pytest.raises(DataError, match="square_root"):
        pair_features(pair_views(TABLES[0], **options))


def test_kernels_are_those_of_the_features_of_pairs() -> None:
    views = pair_views(TABLES[0])
    kernel = {"id": "k", "kind": "linear", "view": "0", "feature_scaling": "standard", "centre": False,
              "normalise": "none"}  # fmt: skip
    transform = StackTransform([kernel]).fit(views[TRAIN])
    train, test = pair_features(views, feature_scaling="standard")
    np.testing.assert_allclose(transform.stack_train_.matrices[0], train @ train.T, atol=1e-9)
    np.testing.assert_allclose(transform.transform(views[TEST]).matrices[0], test @ train.T, atol=1e-9)


# --- lists

PEOPLE, IMAGES = ["Ann", "Bob", "Cy", "Di"], 3
IDS = np.array([f"{name}/{name}_{number:04d}.jpg" for name in PEOPLE for number in range(1, IMAGES + 1)])
Y = np.repeat(np.arange(len(PEOPLE)), IMAGES)
FOLDS = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t3\nCy\t2\t3\nDi\t1\tCy\t1\n"
VIEW = "1\nBob\t1\t3\nBob\t2\tDi\t3\n"
OTHER_VIEW = "1\nAnn\t2\t3\nAnn\t2\tCy\t3\n"


def written(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return [folder / f"{name}.txt" for name in texts]


def test_official_lists_of_lfw(mirror: Path) -> None:
    folder = mirror / "lfw"
    lines = [line.split() for path in folder.glob("pairs*.txt") for line in path.read_text("utf-8").splitlines()[1:]]
    images = [(line[0], number) for line in lines if len(line) == 3 for number in line[1:]]
    images += [image for line in lines if len(line) == 4 for image in (line[:2], line[2:])]
    ids = np.array(sorted({f"{name}/{name}_{int(number):04d}.jpg" for name, number in images}))
    y = np.unique([name.split("/")[0] for name in ids], return_inverse=True)[1]
    assert len(ids) == 9056
    drawn = verification(y, ids=ids, files=[folder / f"pairs{part}.txt" for part in ("", "DevTrain", "DevTest")])
    assert len(drawn) == 10
    people = np.column_stack([y[drawn.samples.first], y[drawn.samples.second]])
    for split in drawn:
        assert (len(split.train), len(split.test)) == (5400, 600)
        assert drawn.samples.target(y)[split.test].sum() == 300
        assert not np.intersect1d(people[split.train], people[split.test]).size
    assert [len(part) for part in drawn.choosing] == [2200, 1000]
    keys = [tuple(sorted(pair)) for pair in zip(drawn.samples.first, drawn.samples.second, strict=True)]
    assert sum(key in set(keys[6000:]) for key in keys[:6000]) == 758


def test_pairs_are_the_samples_of_the_splits_and_of_their_file(tmp_path: Path) -> None:
    drawn = verification(Y, 3, ids=IDS, files=written(tmp_path, pairs=FOLDS, train=VIEW, test=OTHER_VIEW))
    drawn.save(tmp_path / "p.parquet", IDS, {"by": "test"})
    for splits in (drawn, Splits.load(tmp_path / "p.parquet", IDS)):
        parts = [(split.fold, split.train.tolist(), split.test.tolist()) for split in splits]
        assert parts == [(0, [2, 3], [0, 1]), (1, [0, 1], [2, 3])]
        assert [part.tolist() for part in splits.choosing] == [[4, 5], [6, 7]]
        assert splits.samples == drawn.samples
    assert drawn.samples.target(Y).tolist() == [1, 0, 1, 0, 1, 0, 1, 0]
    assert drawn.samples.groups()[:4].tolist() == ["0", "0", "1", "1"]
    assert drawn.samples.names(IDS)[[0, 3]].tolist() == [
        "Ann/Ann_0001.jpg | Ann/Ann_0002.jpg", "Di/Di_0001.jpg | Cy/Cy_0001.jpg",
    ]  # fmt: skip
    with pytest.raises(DataError, match="made for other samples"):
        Splits.load(tmp_path / "p.parquet", IDS[::-1])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a list of pairs as LFW has them"),
        ("1\nAnn\t1\n", "2 columns; expected 3 or 4"),
        ("1\nAnn\t1\t2\n", "1 pairs; the first line says 1 x 2 x 1"),
        ("1\nAnn\t1\t9\nAnn\t1\tBob\t1\n", "ids that the data set does not have: 'Ann/Ann_0009'"),
        ("1\nAnn\t1\t2\nAnn\t1\tAnn\t3\n", "contradict the labels, in lines '3'"),
        ("2\t1\nAnn\t1\t1\nAnn\t1\tBob\t1\nCy\t1\t2\nCy\t1\tDi\t1\n", "paired with themselves: 'Ann/Ann_0001'"),
        ("1\nAnn\t1\t2\nAnn\t1\tBob\t1\n", "at least two are needed"),
        (FOLDS.replace("Cy\t2\t3", "Ann\t2\t1"), "listed twice, as pair 1 and as pair 3"),
    ],
)
def test_wrong_lists_of_lfw(tmp_path: Path, text: str, reason: str) -> None:
    files = written(tmp_path, pairs=text)
    with pytest.raises(DataError, match=reason) as error:
        verification(Y, ids=IDS, files=files)
    assert str(files[0]) in str(error.value)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"fold": [0, 0, 2, 2]}, "from 0 without a gap"),
        ({"fold": [0, 0, 0.5, 1]}, "not whole numbers, in rows '2'"),
        ({"second": [IDS[1], IDS[3], IDS[7], "nobody"]}, "ids that the data set does not have: 'nobody'"),
    ],
)
def test_lists_of_the_user(tmp_path: Path, columns: dict[str, Any], reason: str) -> None:
    right = {"fold": [0, 0, 1, 1], "first": IDS[[0, 0, 6, 9]], "second": IDS[[1, 3, 7, 6]]}
    pd.DataFrame(right).to_csv(tmp_path / "right.csv", index=False)
    assert verification(Y, ids=IDS, files=[tmp_path / "right.csv"]).samples.target(Y).tolist() == [1, 0, 1, 0]
    pd.DataFrame(right | columns).to_csv(tmp_path / "wrong.csv", index=False)
    with pytest.raises(DataError, match=reason):
        verification(Y, ids=IDS, files=[tmp_path / "wrong.csv"])


# --- studies

STUDY: dict[str, Any] = {
    "study": "faces",
    "datasets": {"lfw": None},
    "descriptors": {"hog": {"kind": "hog"}, "lbp": {"kind": "lbp"}},
    "kernels": {"g": {"kind": "gaussian", "descriptor": "hog", "feature_scaling": "standard"}},
    "methods": {"svm": {"kind": "fsvc", "power": 0, "descriptor": ["hog", "lbp"]}, "rbf": {"kind": "kernel_svc"}},
    "protocols": {"pairs": {"kind": "verification"}},
}


def planned(**changes: Any) -> Plan:
    return plan_study(check_study(STUDY | changes))


def test_fits_take_features_and_official_lists_are_downloads_that_are_not_read_as_images() -> None:
    plan = planned()
    (dataset,) = plan.datasets.values()
    lists = dataset.protocol_files["verification"]
    assert [Path(path).name for path in dataset.files] == ["lfw_pairs_grey_150x130.zip"]
    assert [Path(path).name for path in lists] == ["pairs.txt", "pairsDevTrain.txt", "pairsDevTest.txt"]
    assert set(dataset.downloads) == {*dataset.files, *lists}
    jobs = Jobs(plan)
    inputs = [jobs.job("fit", key).inputs for key in jobs.keys("fit")]
    named = [[Path(path).parent.name.split("-")[0] for path in each["sources"]] for each in inputs]
    assert named == [["hog", "lbp"], ["hog"]]
    assert not any(each["matrices"] for each in inputs)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"datasets": {"digits": None}}, "each sample is composed of several, by their features: no lists"),
        ({"protocols": {"pairs": {"kind": "verification", "path": "no.csv"}}}, "no.csv: there is no such file"),
        ({"methods": {"m": {"kind": "glram"}}}, "takes images; use a method on features or kernels"),
        ({"kernels": {"g": {"kind": "gaussian", "descriptor": "hog"}}},
         "kernel 'g' is made from a matrix among single samples; give it `feature_scaling`"),
        ({"protocols": {"pairs": {"kind": "verification", "exclude_classes": ["x"]}}}, "unknown key 'exclude_classes'"),
    ],
)  # fmt: skip
def test_studies_that_can_not_be_planned(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        planned(**changes)


def test_how_pairs_are_compared_is_checked() -> None:
    wrong = {"kind": "verification", "components": 0, "whiten": "no", "terms": ["sum"]}
    mistakes = parameter_mistakes(check_study(STUDY | {"protocols": {"pairs": wrong}}))
    assert {mistake.path for mistake in mistakes} == {f"protocols.pairs.{name}" for name in wrong if name != "kind"}

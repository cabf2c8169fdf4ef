"""Summary of scores: oracle, inner CV, differences, failures; predictions behind them; verdicts on published values."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import mklearn.study.evaluation.reproduction as module
from mklearn.base.statistics import corrected_resampled_interval
from mklearn.study.evaluation.headline import headline_rows, winner
from mklearn.study.evaluation.outputs import RulePredictions, SplitRecord
from mklearn.study.evaluation.predictions import COLUMNS, Predictions, common, prediction_table, typed, without
from mklearn.study.evaluation.reproduction import calibration_checks, split_noise, unmatched
from mklearn.study.evaluation.summary import SUMMARY_COLUMNS, summarise
from mklearn.study.specs.table_specs import Calibration, Tolerance

CURVES = {
    "average": [[0.5, 0.6, 0.6], [0.6, 0.7, 0.7], [0.5, 0.8, 0.6]],
    "mkldr": [[0.7, 0.1, 0.8], [0.3, 0.9, 0.8], [0.4, 0.9, 0.8]],  # each repeat's own best: 0.8, 0.9, 0.9
}
CHOSEN = {"average": ([0.6, 0.7, 0.5], [2, 3, 1]), "mkldr": ([0.8, 0.3, 0.9], [3, 1, 2])}


def row(method, repeat, value=math.nan, *, selection="dimension", dimension=None, **other):
    base = {
        "study": "s", "dataset": "d", "protocol": "random", "train_size": 5, "repeat": repeat, "fold": 0,
        "method": method, "kernel_set": "all", "neighbour": "cosine", "selection": selection, "dimension": dimension,
        "metric": "accuracy", "value": value, "status": "ok", "message": "", "n_train": 50, "n_test": 25,
        "n_validation": 0, "test_part": other.get("fold", 0), "fit_seconds": 1.0 + repeat,
    }  # fmt: skip
    return base | other


def table(rows):
    frame = pd.DataFrame(rows)
    frame["dimension"] = frame["dimension"].astype("Int64")
    return frame


@pytest.fixture
def rows():
    made = []
    for method, curves in CURVES.items():
        for repeat, curve in enumerate(curves):
            made += [row(method, repeat, value, dimension=q + 1) for q, value in enumerate(curve)]
            values, dimensions = CHOSEN[method]
            made.append(row(method, repeat, values[repeat], selection="inner_cv", dimension=dimensions[repeat]))
    return made


def pick(summary, method, selection, neighbour="cosine"):
    found = summary.query("method == @method and selection == @selection and neighbour == @neighbour")
    assert len(found) == 1
    return found.iloc[0]


def test_oracle_takes_the_best_dimension_of_the_mean_curve(rows):
    summary = summarise(table(rows))
    assert list(summary.columns) == SUMMARY_COLUMNS
    kinds = itertools.product(("average", "mkldr"), ("oracle", "inner_cv"))
    assert list(zip(summary["method"], summary["selection"], strict=True)) == list(kinds)
    best = pick(summary, "mkldr", "oracle")
    assert best["dimension"] == 3
    assert best["mean"] == pytest.approx(0.8), "less than the mean of each repeat's own best"
    assert best["std"] == pytest.approx(0, abs=1e-12)
    assert best["fit_seconds"] == 2.0


@pytest.mark.parametrize(
    ("curves", "metric", "dimension", "mean"),
    [
        ([[0.1, 0.2, 0.3], [0.3, 0.3, 0.2]], "accuracy", 2, 0.25),  # of a tie the fewest dimensions
        ([[0.5], [0.5, 1.0]], "accuracy", 1, 0.5),  # a dimension that few repeats reach can't win
        ([[0.5, 0.2]], "support_vector_share", 2, 0.2),  # smaller is better
    ],
)
def test_the_best_dimension(curves, metric, dimension, mean):
    made = [
        row("average", r, v, dimension=q, metric=metric) for r, vs in enumerate(curves) for q, v in enumerate(vs, 1)
    ]
    best = pick(summarise(table(made)), "average", "oracle")
    assert (best["dimension"], best["n_repeats"], best["mean"]) == (dimension, len(curves), pytest.approx(mean))


def test_inner_cv_and_paired_difference(rows):
    summary = summarise(table(rows))
    inner = pick(summary, "mkldr", "inner_cv")
    a, b = CHOSEN["mkldr"][0], CHOSEN["average"][0]
    assert inner["mean"] == pytest.approx(np.mean(a))
    assert inner["std"] == pytest.approx(np.std(a, ddof=1))
    assert inner["dimension"] == 2
    interval = corrected_resampled_interval(a, 50, 25)
    assert (inner["ci_low"], inner["ci_high"]) == pytest.approx((max(interval.low, 0), min(interval.high, 1)))
    assert inner["difference"] == pytest.approx(np.mean(np.subtract(a, b)))
    assert inner[["difference_low", "difference_high", "p_value", "p_holm"]].isna().all()  # three repeats: no verdict
    own = pick(summary, "average", "inner_cv")
    assert (own["difference"], own["difference_low"], own["difference_high"]) == (0, 0, 0)
    assert (own["n_repeats"], own["n_failed"]) == (3, 0)
    two = table([each for each in rows if each["repeat"] < 2])
    assert pick(summarise(two), "mkldr", "inner_cv")["dimension"] == 1, "the lower median, of 1 and 3"


def test_difference_is_to_the_same_rule_and_selection(rows):
    euclid = [r | {"neighbour": "euclidean", "value": r["value"] / 2} for r in rows]
    summary = summarise(table(rows + euclid))
    cosine, euclidean = (pick(summary, "mkldr", "inner_cv", rule) for rule in ("cosine", "euclidean"))
    assert euclidean["difference"] == pytest.approx(cosine["difference"] / 2)
    without = summarise(table([r for r in rows + euclid if r["method"] != "average" or r["neighbour"] == "cosine"]))
    assert math.isnan(pick(without, "mkldr", "inner_cv", "euclidean")["difference"])


FAILED = {"status": "failed", "message": "no solution", "neighbour": "", "selection": "", "n_train": None}
ONE_CLASS = FAILED | {"status": "not_applicable", "message": "one class"}
INEXACT = {"status": "inaccurate", "message": "gap", "selection": "inner_cv", "dimension": 2}


@pytest.mark.parametrize(
    ("repeats", "made", "expected"),
    [
        ([1], [row("mkldr", 1, **FAILED)], (2, 1, "ok", "no solution")),
        ([1], [row("mkldr", 1, metric="", **FAILED)], (2, 1, "ok", "no solution")),
        ([0, 1, 2], [row("mkldr", k, **(ONE_CLASS if k else FAILED)) for k in range(3)],
         (0, 3, "failed", "no solution; one class")),
        ([2], [row("mkldr", 2, 0.9, **INEXACT)], (3, 0, "inaccurate", "gap")),
    ],
    ids=["one repeat", "one repeat for every metric", "no value", "usable but inexact"],
)  # fmt: skip
def test_failures_are_counted_and_their_pairs_dropped(rows, repeats, made, expected):
    kept = [each for each in rows if each["method"] != "mkldr" or each["repeat"] not in repeats]
    summary = summarise(table([*kept, *made, *(each | {"metric": "auc"} for each in kept)]))
    of_mkldr = summary.query("method == 'mkldr' and metric == 'accuracy'").set_index("selection")
    assert set(of_mkldr["n_failed"]) == {expected[1]}
    got = of_mkldr.loc["inner_cv"]
    assert (got["n_repeats"], got["n_failed"], got["status"], got["message"]) == expected
    values = {each["repeat"]: each["value"] for each in [*kept, *made]
              if (each["method"], each["selection"]) == ("mkldr", "inner_cv")}  # fmt: skip
    pairs = [(value, CHOSEN["average"][0][repeat]) for repeat, value in values.items()] or [(math.nan, math.nan)]
    mean, other = np.mean(pairs, axis=0)
    assert (got["mean"], got["difference"]) == pytest.approx((mean, mean - other), nan_ok=True)
    assert summary.loc[summary["method"].eq("average"), "n_failed"].eq(0).all()


def test_methods_without_a_dimension(rows):
    svc = [row("svc", r, v, neighbour="") for r, v in enumerate([0.8, 0.7, 0.9])]
    summary = summarise(table(rows + svc))
    got = pick(summary, "svc", "oracle", "")
    assert got["mean"] == pytest.approx(0.8)
    assert pd.isna(got["dimension"])
    # It has no rule of its own: against the reference by the rule that comes first.
    assert got["difference"] == pytest.approx(0.8 - pick(summary, "average", "oracle")["mean"])


def test_published_and_titles(rows):
    cell = {"dataset": "d", "train_size": 5, "method": "mkldr"}
    published = [
        cell | {"value": 0.81, "std": 0.02, "source": "paper, table 1", "dimension": 14, "repeats": 20},
        cell | {"neighbour": "cosine", "selection": "oracle", "value": 0.9},
        {"dataset": "d", "train_size": 7, "method": "average", "value": 0.1, "std": None, "source": "x"},
    ]
    titles = {"datasets": {"d": "Data"}, "methods": {"mkldr": "MKL-DR"}}
    summary = summarise(table(rows), published=published, titles=titles)
    oracle, inner = pick(summary, "mkldr", "oracle"), pick(summary, "mkldr", "inner_cv")
    assert (inner["published"], inner["published_std"], inner["published_source"]) == (0.81, 0.02, "paper, table 1")
    assert (inner["published_dimension"], inner["published_repeats"]) == (14, 20)
    assert oracle["published"] == 0.9
    assert math.isnan(oracle["published_std"])
    assert math.isnan(pick(summary, "average", "oracle")["published"])
    assert (oracle["dataset_title"], oracle["method_title"]) == ("Data", "MKL-DR")
    assert pick(summary, "average", "oracle")["method_title"] == "average"


def test_folds_count_as_values(rows):
    rows += [r | {"repeat": r["repeat"] + 3, "value": r["value"] / 2} for r in rows]
    folded = [r | {"repeat": 0, "fold": r["repeat"], "test_part": r["repeat"]} for r in rows]
    got, expected = (pick(summarise(table(t)), "mkldr", "inner_cv") for t in (folded, rows))
    assert got["n_repeats"] == 6
    assert got["difference_low"] < got["difference"]
    assert got["difference_low"] == pytest.approx(expected["difference_low"])


def test_times_are_divided_by_the_reference_s_on_the_same_split() -> None:
    seconds = {"average": [2.0, 4.0], "mkl": [20.0, 21.0, 22.0], "ridge": [1.0, 0.0], "late": [math.nan, math.nan, 1.0]}
    made = [
        row(method, repeat, 0.5, selection="inner_cv", neighbour="", fit_seconds=each)
        for method, times in seconds.items()
        for repeat, each in enumerate(times)
    ]
    made += [row("mkl", 3, selection="inner_cv", neighbour="", status="failed", fit_seconds=77.0)]
    made += [row("on_test", repeat, 0.5, neighbour="", fit_seconds=4.0 + 4 * repeat) for repeat in range(2)]
    summary = summarise(table(made)).set_index("method")
    assert summary["fit_seconds"].to_dict() == {
        "average": 3, "mkl": 21, "ridge": (1 + 1e-4) / 2, "late": 1, "on_test": 6,
    }  # fmt: skip
    ratios = {"average": 1, "mkl": (20 / 2 + 21 / 4) / 2, "ridge": (1 / 2 + 1e-4 / 4) / 2, "late": math.nan}
    assert summary["time_ratio"].to_dict() == pytest.approx(ratios | {"on_test": 2}, nan_ok=True)
    assert math.isnan(summary.loc["on_test", "difference"])


# --- several metrics


def test_metrics_are_kept_apart(rows):
    other = [entry | {"metric": "auc", "value": 1 - entry["value"]} for entry in rows]
    published = [{"dataset": "d", "train_size": 5, "method": "mkldr", "value": 0.7}]
    alone = summarise(table(rows), published=published)
    both = summarise(table(rows + other), published=published)
    accuracy = both[both["metric"].eq("accuracy")].reset_index(drop=True)
    pd.testing.assert_frame_equal(accuracy, alone)
    auc = both[both["metric"].eq("auc")].reset_index(drop=True)
    assert auc["published"].isna().all()
    assert auc["verdict"].eq("").all()
    inner = auc["selection"].eq("inner_cv")
    assert auc.loc[inner, "mean"].tolist() == pytest.approx((1 - accuracy.loc[inner, "mean"]).tolist())
    assert auc.loc[inner, "difference"].tolist() == pytest.approx((-accuracy.loc[inner, "difference"]).tolist())


def test_a_metric_that_a_method_lacks_is_one_row(rows):
    lacking = [row("average", r, selection="inner_cv", status="not_applicable", message="no values", metric="auc")
               for r in range(3)]  # fmt: skip
    summary = summarise(table([*rows, *lacking]))
    found = summary[summary["metric"].eq("auc") & summary["method"].eq("average")]
    assert found[["selection", "status", "message", "n_failed"]].to_numpy().tolist() == [
        ["inner_cv", "not_applicable", "no values", 3]
    ]


def test_intervals_of_a_metric_without_an_upper_bound_end_at_0_and_not_at_1():
    values = {"average": [0.01, 1.4, 0.02, 0.01, 0.03], "mkldr": [2.5, 2.6, 2.4, 2.5, 2.7]}
    made = [
        row(method, repeat, value, selection="inner_cv", metric="log_loss")
        for method, those in values.items()
        for repeat, value in enumerate(those)
    ]
    summary = summarise(table(made))
    one, other = (pick(summary, method, "inner_cv") for method in values)
    assert one["ci_low"] == 0
    assert other["ci_low"] > 1
    assert other["difference"] == pytest.approx(np.mean(values["mkldr"]) - np.mean(values["average"]))


def test_embeddings_are_compared_with_a_reference_that_is_a_classifier():
    made = [
        row(method, repeat, value + repeat / 100, selection="inner_cv", neighbour=rule)
        for method, rule, value in (("svc", "", 0.7), ("kfd", "cosine", 0.8), ("kfd", "euclidean", 0.6))
        for repeat in range(6)
    ]
    by_classifier = summarise(table(made), reference="svc")
    assert pick(by_classifier, "kfd", "inner_cv")["difference"] == pytest.approx(0.1)
    assert pick(by_classifier, "kfd", "inner_cv", "euclidean")["difference"] == pytest.approx(-0.1)
    assert pick(summarise(table(made), reference="kfd"), "svc", "inner_cv", "")["difference"] == pytest.approx(-0.1)
    for rule in ("cosine", "euclidean"):
        rows = headline_rows(summarise(table(made), reference="kfd", neighbour=rule), "accuracy", rule)
        own = rows.loc[rows["method"].eq("kfd"), "mean"].item()
        assert rows["difference"].tolist() == pytest.approx((rows["mean"] - own).tolist()), "one reference for all"
    rows = headline_rows(by_classifier, "accuracy", "cosine")
    assert rows[["method", "neighbour"]].to_numpy().tolist() == [["svc", ""], ["kfd", "cosine"]]


@pytest.mark.parametrize(
    ("rows", "metric", "entries", "expected"),
    [
        ({"a": [0.6], "b": [0.7], "c": [0.7], "d": [math.nan]}, "accuracy", "dcba", (1, "c", 3)),  # of equal ones
        ({"a": [0.6], "b": [0.7]}, "log_loss", "ba", (1, "a", 2)),
        ({"a": [0.9, 0, -0.1, 0.5, 0.9], "b": [0.8, 0, 0.1, 0.2, 0.01], "c": [0.85, 0, 0.01, 0.1, 0.2],
          "d": [0.7, 0, 0.05, 0.2, 0.04]}, "accuracy", "abcd", (1, "b", 4)),
        ({"a": [0.7], "b": [0.95, 5]}, "accuracy", "ab", (0, "a", 2)),
        ({"a": [0.7], "b": [0.95, 5]}, "accuracy", "b", (0, "b", 1)),
        ({"a": [0.7]}, "accuracy", "z", None),
    ],
)  # fmt: skip
def test_the_winner_is_better_for_certain_then_complete_then_best(rows, metric, entries, expected):
    columns = ["mean", "n_failed", "difference_low", "difference_high", "p_holm"]
    summary = pd.DataFrame(map(pd.Series, rows.values())).reindex(columns=range(5)).set_axis(columns, axis=1)
    summary = summary.fillna({"n_failed": 0}).assign(dataset="d", protocol="random", method=list(rows), train_size=10)
    at_other_size = summary.assign(train_size=5, mean=0.99)
    found = winner(pd.concat([at_other_size, summary]), metric, "d", [(name, "random", 10) for name in entries])
    assert expected == (found and (found.position, found.row["method"], found.among))
    assert winner(summary, metric, "other", [("a", "random", 10)]) is None


# --- predictions

Y = np.array([0, 1, 0, 1, 2])
IDS = np.array(["a", "b", "c", "d", "e"])
FIT = {"dataset": "s", "protocol": "p-2", "train_size": 2, "method": "kfd", "metric": "accuracy", "seed": 0}


def rule(labels, components, position):
    nothing = np.zeros(len(labels[0]), dtype=int)
    return RulePredictions(nothing, nothing, np.array(labels), components, position)


def split(repeat, train, test, own=None, fold=0, **rules):
    facts = {"repeat": repeat, "fold": fold}
    return SplitRecord(facts, np.array(train), np.array(test), rules if own is None else {"": own})


@pytest.fixture
def predicted_table():
    """Two splits: with one component right on 1 and 2 of 2 samples, with two on 2 and 0."""
    one, other = rule([[0, 0], [0, 1]], [1, 2], 0), rule([[0, 2], [1, 1]], [1, 2], None)
    return prediction_table([split(0, [0, 1], [2, 3], cosine=one), split(1, [2, 3], [0, 4], cosine=other)], FIT, Y, IDS)


def test_a_row_for_each_test_sample(predicted_table):
    assert list(predicted_table.columns) == list(COLUMNS)
    assert predicted_table["sample"].tolist() == ["c", "d", "a", "e"]
    assert predicted_table["true"].tolist() == [0, 1, 0, 2]
    assert predicted_table["predicted"].tolist() == [0, 0, pd.NA, pd.NA]  # the choice of the second split failed
    assert predicted_table["predicted_oracle"].tolist() == [0, 0, 0, 2]  # one component: 1/2 and 1; two: 1 and 0
    assert set(predicted_table["train_size"]) == {2}


def test_groups_are_units_only_where_every_split_holds_them_out():
    right = rule([[0, 1]], [], 0)
    splits = [split(0, [0, 1, 4], [2, 3], right), split(0, [2, 3, 4], [0, 1], right, fold=1)]
    keys = {**FIT, "neighbour": "", "selection": "inner_cv"}
    for names, held_out in (("aabbc", ["a", "a", "b", "b"]), ("abbac", None), ("abcde", None)):
        table = prediction_table(splits, FIT, Y, IDS, groups=np.array([*names]))
        assert table["new_group"].all() == (names != "abbac")
        predictions = Predictions(typed(pd.concat([table, table[[*COLUMNS]].assign(dataset="without groups")])))
        groups = predictions.held_out_groups(keys, predictions.outcomes(keys))
        assert (None if groups is None else groups.tolist()) == held_out


def test_a_classifier_chosen_on_the_test_samples_has_its_predictions_there():
    honest, on_test = (
        prediction_table([split(0, [0, 1], [2, 4], rule([[0, 1]], [], position))], FIT, Y, IDS)
        for position in (0, None)
    )
    assert honest["predicted"].tolist() == on_test["predicted_oracle"].tolist() == [0, 1]
    assert honest["predicted_oracle"].isna().all()
    assert on_test["predicted"].isna().all()
    keys = {**FIT, "neighbour": "", "selection": "oracle"}
    assert Predictions(on_test).outcomes(keys).values.tolist() == [[1.0, 0.0]]


def test_outcomes_are_by_split_and_sample(predicted_table):
    predictions, keys = Predictions(predicted_table), {**FIT, "neighbour": "cosine", "selection": "oracle"}
    both, chosen = predictions.outcomes(keys), predictions.outcomes({**keys, "selection": "inner_cv"})
    assert both.index.tolist() == [(0, 0), (1, 0)]
    assert both.columns.tolist() == ["a", "c", "d", "e"]
    np.testing.assert_array_equal(both.values, [[np.nan, 1, 0, np.nan], [1, np.nan, np.nan, 1]])
    np.testing.assert_array_equal(chosen.values, [[1, 0]])
    assert predictions.outcomes({**keys, "method": "other"}) is None
    rest = without(both, both.index[:1])
    assert (rest.index.tolist(), rest.columns.tolist(), rest.values.tolist()) == ([(1, 0)], ["a", "e"], [[1, 1]])
    assert without(both, both.index) is None
    assert [each.values.tolist() for each in common(both, chosen)] == [[[1, 0]]] * 2
    np.testing.assert_array_equal(common(both, both), [both.values] * 2)


def test_confusion_counts_what_was_chosen(predicted_table):
    predictions, keys = Predictions(predicted_table), {**FIT, "neighbour": "cosine"}
    assert predictions.confusion(keys, 3).tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert predictions.confusion({**keys, "method": "other"}, 3).sum() == 0


def test_the_majority_value_is_of_a_methods_own_splits():
    y = np.array([0, 0, 0, 1, 1, 1, 1])
    ids = np.array(list("abcdefg"))
    tests = [np.array([0, 1, 2, 3]), np.array([3, 4, 5, 6])]
    splits = [split(k, [0, 4], test, rule([y[test]], [], 0)) for k, test in enumerate(tests)]
    frames = [prediction_table(own, FIT | {"method": name}, y, ids)
              for name, own in (("whole", splits), ("partly", splits[:1]))]  # fmt: skip
    for names in (("whole", "partly"), ("partly", "whole")):
        predictions = Predictions(typed(pd.concat(frames)))
        found = {name: predictions.majority_value(FIT | {"method": name, "neighbour": ""}) for name in names}
        assert found == {"whole": pytest.approx((0.25 + 1) / 2), "partly": 0.75}


def test_the_majority_is_of_samples_however_often_they_are_tested():
    y, ids = np.array([0, 0, 1, 2]), np.array(list("abcd"))
    tests = [np.array([0, 1, 2, 3]), np.array([2]), np.array([3])]
    splits = [split(k, [0], test, rule([y[test]], [], 0)) for k, test in enumerate(tests)]
    predictions = Predictions(prediction_table(splits, FIT, y, ids))
    assert predictions.majority_value(FIT | {"neighbour": ""}) == pytest.approx((2 / 4 + 0 + 0) / 3)
    sizes = {"minority_recall": [1], **{name: [2, 1, 1] for name in ("balanced_accuracy", "macro_f1", "auc")}}
    for name, expected in sizes.items():
        assert predictions.class_sizes(FIT | {"neighbour": "", "metric": name}).tolist() == expected
    assert predictions.class_sizes(FIT | {"neighbour": "", "metric": "accuracy"}) is None


# --- published values


VALUES = {"pca": [0.70, 0.74, 0.66, 0.72, 0.68], "mmc": [0.80, 0.84, 0.76, 0.82, 0.78]}
SPREAD = float(np.std(VALUES["pca"], ddof=1))


def scores(values=VALUES, datasets=("orl",)):
    rows = []
    for dataset, (method, own) in itertools.product(datasets, values.items()):
        place = {"dataset": dataset, "neighbour": "euclidean"}
        for repeat, value in enumerate(own):
            rows.append(row(method, repeat, value - 0.1, dimension=3, **place))
            rows.append(row(method, repeat, value, dimension=7, **place))
            rows.append(row(method, repeat, value - 0.1, selection="inner_cv", dimension=3, **place))
    return table(rows)


def entry(value, method="pca", dataset="orl", **other):
    base = {"dataset": dataset, "train_size": 5, "method": method, "value": value, "std": None, "source": "Table 1"}
    return base | {"repeats": 20, "dimension": 9} | other


def judged(published, values=VALUES, datasets=("orl",), **more):
    """Return the judged rows of the summary."""
    summary = summarise(scores(values, datasets), published=published, **more)
    return summary[summary["verdict"].ne("")]


@pytest.mark.parametrize(
    ("ours", "theirs"), [((0.03, 20), (0.03, 10)), ((0.01, 20), (0.03, 2))], ids=["one deviation", "two deviations"]
)
def test_the_scale_is_the_standard_error_of_a_difference_of_two_means(ours, theirs):
    generator = np.random.default_rng(0)
    one, other = (generator.normal(0.8, std, size=(40_000, n)).mean(axis=1) for std, n in (ours, theirs))
    assert np.std(one - other) == pytest.approx(split_noise(*ours, theirs[1], theirs[0]), rel=0.02)
    assert split_noise(0.03, 20, 20) == pytest.approx(0.03 * math.sqrt(0.1)), "the paper's deviation is assumed"
    assert split_noise(math.nan, 1, 2, 0.03) == split_noise(0.03, 1, 2), "one repeat of ours: the paper's deviation"
    assert math.isnan(split_noise(0.03, 0, 20))


def test_few_splits_are_certain_of_large_differences_only():
    """Two splits on each side have two degrees of freedom: t is beyond 19.2 as rarely as a normal variable beyond 3."""
    assert module.degrees_of_freedom(0.01, 2, 2, 0.02) == 2
    assert module.degrees_of_freedom(0.01, 2, 2) == 1, "an assumed deviation tells nothing"
    assert module.degrees_of_freedom(math.nan, 1, 2, 0.02) == 1
    assert module.certain_from(2, 3) == pytest.approx(19.2, abs=0.05)
    assert module.certain_from(10**6, 3) == pytest.approx(3, abs=1e-4)
    assert module.certain_from(0, 3) == math.inf


def test_a_difference_within_the_papers_own_deviation_reproduces():
    """MKL-DR's GB-2 with 101 classes: 61.2 from two split-roles that are nearly equal, published 60.6 +- 1.5."""
    values = {"pca": [0.6110, 0.6120]}
    (cell,) = judged([entry(0.606, std=0.015, repeats=2)], values).to_dict("records")
    assert (cell["verdict"], cell["reason"]) == (module.REPRODUCED, "")
    assert cell["z"] == pytest.approx(-0.52, abs=0.01)
    (cell,) = judged([entry(0.606, std=None, repeats=2)], values).to_dict("records")
    assert cell["verdict"] == module.UNCERTAIN
    assert "1 degrees of freedom" in cell["reason"]


def test_a_judged_row_has_everything_of_both_sides():
    (cell,) = judged([entry(0.72, std=0.01)]).to_dict("records")  # 5 splits of ours, 20 of the paper
    assert (cell["mean"], cell["dimension"], cell["n_repeats"]) == (pytest.approx(0.70), 7, 5)
    assert (cell["published"], cell["published_dimension"], cell["published_repeats"]) == (0.72, 9, 20)
    assert cell["z"] == pytest.approx(0.02 / math.sqrt(SPREAD**2 / 5 + 0.01**2 / 20))
    (cell,) = judged([entry(0.72, repeats=None)]).to_dict("records")
    assert cell["z"] == pytest.approx(0.02 / (SPREAD * math.sqrt(2 / 5))), "as many splits as ours"


@pytest.mark.parametrize(
    ("units", "verdict"),
    [(2.99, module.REPRODUCED), (-2.99, module.REPRODUCED), (3.01, module.UNCERTAIN), (6.6, module.UNCERTAIN),
     (6.7, module.LOWER), (-6.7, module.HIGHER)],
)  # fmt: skip
def test_verdicts_are_from_our_side(units, verdict):
    """Five splits have four degrees of freedom: certain from 6.62 units."""
    noise = split_noise(SPREAD, 5, 20)
    (cell,) = judged([entry(0.70 + units * noise)]).to_dict("records")
    assert (cell["z"], cell["verdict"]) == (pytest.approx(units, abs=1e-9), verdict)


def test_each_metric_is_compared_with_its_own_published_value():
    both = pd.concat([scores().assign(metric="accuracy"), scores().assign(metric="support_vector_share")])
    summary = summarise(both, published=[entry(0.72), entry(0.40, metric="support_vector_share")])
    cells = summary[summary["verdict"].ne("")].set_index("metric")
    assert cells["published"].to_dict() == {"accuracy": 0.72, "support_vector_share": 0.40}
    assert cells["verdict"].to_dict() == {"accuracy": module.REPRODUCED, "support_vector_share": module.HIGHER}


@pytest.mark.parametrize(
    ("tolerance", "verdict"),
    [
        ({}, module.UNCERTAIN),
        ({"noise": 2}, module.LOWER),  # certain from 2.87 units
        ({"noise": 5}, module.REPRODUCED),
        ({"points": 8}, module.REPRODUCED),
        ({"points": 1}, module.UNCERTAIN),
    ],
)
def test_the_larger_tolerance_counts(tolerance, verdict):
    """The published value is 7 points above ours, 4.95 units of split noise."""
    (cell,) = judged([entry(0.77, repeats=20)], tolerance=Tolerance(**tolerance)).to_dict("records")
    assert cell["z"] == pytest.approx(0.07 / (SPREAD * math.sqrt(1 / 5 + 1 / 20)))
    assert cell["verdict"] == verdict


def test_what_can_not_be_judged_says_why():
    lost = {"dataset": "orl", "neighbour": "", "selection": "", "status": "failed", "message": "no scatter"}
    failed = table([row("lda", repeat, **lost) for repeat in range(3)])
    summary = summarise(pd.concat([scores(), failed]), published=[entry(0.7, "lda"), entry(0.7)])
    first, second = summary[summary["verdict"].ne("")].sort_values("method").to_dict("records")
    assert (first["verdict"], first["reason"]) == (module.NO_VALUE, "no scatter")
    assert math.isnan(first["z"])
    assert second["verdict"] == module.REPRODUCED
    for values, reason in (([0.7], "one repeat"), ([0.7, 0.7], "the same accuracy in every repeat")):
        (cell,) = judged([entry(0.7)], {"pca": values}).to_dict("records")
        assert (cell["verdict"], cell["reason"]) == (module.NO_SPREAD, reason)
    (cell,) = judged([entry(0.75)], {"pca": [0.74]}, tolerance=Tolerance(points=1)).to_dict("records")  # binary: more
    assert cell["verdict"] == module.REPRODUCED


CALIBRATION = Calibration(method="pca", tolerance=3)


def test_a_missed_calibration_stops_all_comparison_on_that_data_set_only():
    published = [entry(0.95, dataset="orl"), entry(0.80, "mmc", "orl"), entry(0.70, dataset="yale")]
    published.append(entry(0.95, "mmc", "yale"))
    found = judged(published, datasets=("orl", "yale"), calibration=CALIBRATION)
    verdicts = {(c["dataset"], c["method"]): c["verdict"] for c in found.to_dict("records")}
    assert verdicts == {
        ("orl", "pca"): module.OTHER_DATA, ("orl", "mmc"): module.OTHER_DATA,
        ("yale", "pca"): module.REPRODUCED, ("yale", "mmc"): module.LOWER,
    }  # fmt: skip
    assert found["z"].notna().all(), "the numbers stay"
    orl, yale = calibration_checks(found, CALIBRATION)
    assert (orl.status, yale.status) == ("missed", "met")
    for word in ("orl", "pca", "70.0 %", "published 95.0 %", "z = +", "another crop"):
        assert word in orl.sentence
    assert set(found.loc[found["dataset"].eq("orl"), "reason"]) == {orl.sentence}


@pytest.mark.parametrize(
    ("method", "units", "tolerance", "status"),
    [("pca", 4, 3, "missed"), ("pca", 4, 5, "met"), ("mmc", 0, 3, "unchecked")],
)
def test_the_calibration_has_a_tolerance_and_needs_a_published_value(method, units, tolerance, status):
    published = [entry({"pca": 0.70, "mmc": 0.80}[method] + units * split_noise(SPREAD, 5, 20), method)]
    (check,) = calibration_checks(judged(published), Calibration(method="pca", tolerance=tolerance))
    assert check.status == status
    assert ("not calibrated" in check.sentence) == (status == "unchecked")


def test_published_values_without_a_row_are_found():
    summary = summarise(scores())
    published = [entry(0.7), entry(0.7, train_size=9), entry(0.7, "ica"), entry(0.7, neighbour="cosine")]
    assert unmatched(summary, published) == published[1:]
    assert unmatched(summary, [entry(0.7, train_size=None, neighbour="euclidean")]) == []


def test_a_method_without_a_dimension_is_judged_by_its_only_row() -> None:
    raw = [
        row(method, k, v, selection="inner_cv", neighbour=rule, kernel_set=kernels, dataset="orl")
        for method, rule, kernels in (("raw", "", "all"), ("pca", "cosine", "all"), ("pca", "euclidean", "one"))
        for k, v in enumerate(VALUES["pca"])
    ]
    published = [entry(0.705, method) for method in ("raw", "pca")]
    summary = summarise(pd.concat([table(raw), scores({"pca": VALUES["pca"]})]), reference="pca", published=published)
    found = summary[summary["verdict"].ne("")]
    assert set(found["verdict"]) == {module.REPRODUCED}
    assert found["method"].tolist() == ["raw", "pca", "pca", "pca"]
    assert [check.status for check in calibration_checks(summary, Calibration(method="raw", tolerance=3))] == ["met"]

"""Fit a method on every split of a protocol, and predict the test samples."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.study.artefacts import read_table, write_arrays
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.fit_files import import_method, model_arrays, read_views, write_predictions
from mklearn.study.evaluation.fit_records import FitAtSize
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.fit_spec import FitSpec


def fit(
    labels: Path, splits: Path, matrices: list[Path] | None = None, sources: list[Path] | None = None,
    moments: list[Path] | None = None, blocks: list[Path] | None = None, *,
    model: Output, predictions: Output, spec: FitSpec, here: bool = False, record: Record,
) -> None:  # fmt: skip
    """Fit a method on every split; write its predictions, and what the page shows of the fits.

    A failure that is a result (a solver without solution, a method that does not apply, an allocation that is refused,
    the study's time limit) is stored with its reason; splits that were done before it keep their predictions. Each
    training size has a time limit of its own, and its own arrays in both files, such as ``faces-p2/weights``.

    ``matrices`` are the distances of ``spec.pairwise``, ``sources`` the images and the features of
    ``spec.descriptors``; with landmarks on samples in blocks, in their place, ``moments`` and ``blocks`` of features.
    ``here`` fits in this process, where a debugger stops, and without a time limit.
    """
    table = read_table(labels)[0]
    y, ids = table["y"].to_numpy(), table["id"].to_numpy(dtype=str)
    groups = table["group"].to_numpy(dtype=str) if "group" in table else None
    drawn, arrays, stored = Splits.load(splits, ids), dict[str, Any](), {}
    views = None if moments else read_views(spec, matrices or [], sources or [], ids)
    if views is not None and (composed := drawn.samples) is not None:
        y, ids, groups, views = composed.target(y), composed.names(ids), composed.groups(), composed.views(views)
        arrays["classes"] = np.array(composed.classes)
    choosing = None if spec.evaluation.choice == "test_set" else drawn.choosing
    at_size: Any = FitAtSize
    if moments:
        from mklearn.study.evaluation.moments import FitToMoments, read_landmarks

        files = {"landmarks": read_landmarks(moments[0]), "moments": moments, "blocks": blocks or []}
        at_size = partial(FitToMoments, every_split=drawn.splits, ids=ids, **files)
    problem = MethodOnViews(views, y, spec.method, spec.kernels, groups)
    import_method(spec)
    for setting in spec.settings:
        size, name = drawn.of_size(setting.train_size), setting.protocol
        stored[name] = at_size(problem, spec, setting, size, choosing).supervised_records(here=here)
        arrays |= {f"{name}/{key}": array for key, array in model_arrays(stored[name], spec).items()}
    write_predictions(predictions, spec, record, stored, y, ids)
    write_arrays(model, record, **arrays)


if __name__ == "__main__":
    run_script(fit, globals().get("snakemake"))

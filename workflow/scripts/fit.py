"""Fit a method on every split of a protocol, and predict the test samples."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.study.artefacts import write_arrays
from mklearn.study.data.samples import read_labels
from mklearn.study.data.splits import Splits
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.fit_files import import_method, model_arrays, read_views, write_predictions
from mklearn.study.evaluation.fit_records import FitAtSize
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.fit_spec import FitSpec


def fit(
    labels: Path, splits: Path, matrices: list[Path] | None = None, sources: list[Path] | None = None,
    moments: list[Path] | None = None, *, model: Output, predictions: Output, spec: FitSpec, here: bool = False,
    record: Record,
) -> None:  # fmt: skip
    """Fit a method on every split; write its predictions, and the properties of the fits that the page shows.

    Expected failures (a solver without solution, a method that does not apply, a refused allocation, the study's time
    limit) are stored with their reason, and earlier splits keep their predictions. Each training size has its own time
    limit, and its own arrays in both files, such as ``faces-p2/weights``.

    ``matrices`` are the distances of ``spec.pairwise``, ``sources`` the images and the features of
    ``spec.descriptors``. Methods with landmarks on blocks of samples read ``moments`` too, and ``sources`` are the
    features of each block, descriptor by descriptor. With ``here``, fits run in this process, for a debugger, and
    without a time limit.
    """
    y, ids, groups = read_labels(labels)
    drawn, arrays, stored = Splits.load(splits, ids), dict[str, Any](), {}
    views = None if moments else read_views(spec, matrices or [], sources or [], ids)
    if views is not None and (composed := drawn.samples) is not None:
        y, ids, groups, views = composed.target(y), composed.names(ids), composed.groups(), composed.views(views)
        arrays["classes"] = np.array(composed.classes)
    choosing = None if spec.evaluation.choice == "test_set" else drawn.choosing
    at_size: Any = FitAtSize
    if moments:
        from mklearn.study.evaluation.moments import FitToMoments, read_landmarks

        at_size = partial(
            FitToMoments, every_split=drawn.splits, landmarks=read_landmarks(moments[0]), ids=ids, moments=moments,
            blocks=sources or [],
        )  # fmt: skip
    problem = MethodOnViews(views, y, spec.method, spec.kernels, groups)
    import_method(spec)
    for setting in spec.settings:
        size, name = drawn.of_size(setting.train_size), setting.protocol
        stored[name] = at_size(problem, spec, setting, size, choosing).supervised_records(here=here)
        arrays |= {f"{name}/{key}": array for key, array in model_arrays(stored[name], spec).items()}
    of_samples = groups if drawn.samples is None else None
    write_predictions(predictions, spec, record, stored, y, ids, of_samples)
    write_arrays(model, record, **arrays)


if __name__ == "__main__":
    run_script(fit, globals().get("snakemake"))

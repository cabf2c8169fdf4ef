"""Step: a method on landmarks, fitted to the moments of every split; those of inner folds choose its parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklearn.artefacts import read_arrays, read_table, write_arrays
from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.contract.fit_spec import FitSpec
from mklearn.datasets.splits import Split, Splits
from mklearn.errors import NotApplicable
from mklearn.evaluation import landmarks as on_landmarks
from mklearn.evaluation.landmarks import Solved, SplitMoments
from mklearn.evaluation.split import Candidate
from mklearn.provenance import canonical, input_digests, stamp
from mklearn.saved_models import fitted_bytes, from_bytes
from mklearn.steps.fit_records import failure, guarded
from mklearn.steps.landmarks import read_landmarks, seconds_of_landmarks
from mklearn.steps.log import logger, progress
from mklearn.steps.moments import read_moments
from mklearn.supervisor import SplitAborted, supervised


class Solution(NamedTuple):
    """A method on the landmarks of one split: fitted, or the reason why not.

    Attributes
    ----------
    pass_seconds : float
        Processor time of the landmarks and of the pass over the samples; methods on the same landmarks share it.
    status, message : str
        Of a split without a value.
    """

    solved: Solved | None
    pass_seconds: float = 0.0
    status: str = "ok"
    message: str = ""


def solve(
    landmarks: Path, moments: Path, labels: Path, splits: Path, solution: Path, *, spec: FitSpec,
    code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Fit a method to the moments of every split; write the fitted estimators and how they were chosen.

    A failure that is a result (a solver without solution, the study's time limit, no landmarks) is written with its
    reason.
    """
    ids = read_table(labels)[0]["id"].to_numpy(dtype=str)
    drawn = Splits.load(splits, ids).splits
    before = seconds_of_landmarks(landmarks)
    gathered = [replace(m, seconds=m.seconds + t) for m, t in zip(read_moments(moments), before, strict=True)]
    work = list(zip(drawn, read_landmarks(landmarks), gathered, strict=True))
    arrays: dict[str, NDArray[Any]] = {}
    for setting in spec.settings:
        own = [entry for entry in work if entry[0].train_size == setting.train_size]
        for (split, *_), found in zip(own, _solved(own, spec), strict=True):
            arrays |= {f"{drawn.index(split)}/{name}": array for name, array in _as_arrays(found, solution).items()}
    inputs = input_digests(landmarks=landmarks, moments=moments, labels=labels, splits=splits)
    write_arrays(solution, stamp(spec.as_dict(), inputs, code or []), **arrays)


def read_solution(path: Path) -> list[Solution]:
    """Read the solution of each split, in the order of the splits."""
    arrays = read_arrays(path)
    numbers = sorted(int(name.partition("/")[0]) for name in arrays if name.endswith("/record"))
    found = []
    for number in numbers:
        record = json.loads(str(arrays[f"{number}/record"]))
        solved = None
        if f"{number}/estimators" in arrays:
            estimators = from_bytes(arrays[f"{number}/estimators"].tobytes(), str(path))
            chosen = [Candidate(entry["parameters"], entry["kernel"]) for entry in record["chosen"]]
            solved = Solved(estimators, chosen, record["by_rule"], record["fit_seconds"])
        found.append(Solution(solved, record["pass_seconds"], record["status"], record["message"]))
    return found


def _solved(
    work: Sequence[tuple[Split, LandmarkFeatures | NotApplicable, SplitMoments]], spec: FitSpec
) -> list[Solution]:  # fmt: skip
    """Fit the splits of one training size under supervision; those that it ends have its reason."""

    def solutions() -> Iterator[Solution]:
        for split, features, moments in progress(work, len(work), f"{spec.method.id}: split"):
            found = guarded(split.name, lambda: _of_split(features, moments, spec))  # noqa: B023
            if isinstance(found, Exception):
                yield Solution(None, moments.seconds, *failure(found).values())
            else:
                yield Solution(found, moments.seconds)

    done: list[Solution] = []
    try:
        for solution in supervised(solutions, minutes=spec.evaluation.time_limit):
            done.append(solution)
    except SplitAborted as reason:
        logger.warning("%d splits without a value: %s", len(work) - len(done), reason)
        done += [Solution(None, 0.0, *failure(reason).values()) for _ in work[len(done) :]]
    return done


def _of_split(features: LandmarkFeatures | NotApplicable, moments: SplitMoments, spec: FitSpec) -> Solved | Exception:
    """Return the solution, or the reason why the split has no landmarks."""
    if isinstance(features, NotApplicable):
        return features
    return on_landmarks.solve(features, moments, spec.method, spec.evaluation)


def _as_arrays(solution: Solution, path: Path) -> dict[str, NDArray[Any]]:
    record: dict[str, Any] = {
        "status": solution.status, "message": solution.message, "pass_seconds": solution.pass_seconds
    }  # fmt: skip
    if solution.solved is None:
        return {"record": np.array(canonical(record))}
    solved = solution.solved
    record |= {
        "chosen": [{"parameters": each.parameters, "kernel": each.kernel} for each in solved.chosen],
        "by_rule": solved.by_rule, "fit_seconds": solved.fit_seconds,
    }  # fmt: skip
    content = np.frombuffer(fitted_bytes(solved.estimators, str(path)), dtype=np.uint8)
    return {"record": np.array(canonical(record)), "estimators": content}

"""The jobs of a method with landmarks, run one after the other in the process of a test on arrays of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tests.scores import rows_of

from mklearn.methods import METHODS
from mklearn.study.artefacts import write_arrays, write_table
from mklearn.study.data.description import rows_of_part
from mklearn.study.data.splits import Split, Splits
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.evaluation.score_table import COLUMNS
from mklearn.study.jobs import BLOCKS_OF_ONE
from mklearn.study.jobs import parts as parts_of
from mklearn.study.plan.landmarks import landmark_set
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study
from mklearn.study.script import call
from mklearn.study.specs.fit_spec import FitSpec, LandmarkSetSpec

CLASSES: dict[str, Any] = {
    "datasets": {"digits": None},
    "descriptors": {"a": {"kind": "pixels"}, "b": {"kind": "multiresolution", "resolutions": [2]}},
}
NUMBERS: dict[str, Any] = {
    "datasets": {"diabetes": None},
    "descriptors": {"a": {"kind": "table", "table": "body"}, "b": {"kind": "table", "table": "serum"}},
}
TIMED = ("fit_seconds", "predict_seconds", "peak_mb", "utc", "code")


def spec_of(
    study_kernels: Mapping[str, Any] | None = None, evaluation: Mapping[str, Any] | None = None, **method: Any
) -> FitSpec:  # fmt: skip
    """Return the fit of a method as a study with two descriptors, ``a`` and ``b``, plans it."""
    numbers = "numbers" in METHODS[method["kind"]].targets
    study = {
        "study": "s", **(NUMBERS if numbers else CLASSES),
        "kernels": study_kernels or {"g": {"kind": "gaussian"}, "l": {"kind": "linear", "descriptor": "a"}},
        "methods": {"m": method}, "protocols": {"p": {"kind": "k_fold", "folds": 2}},
        "evaluation": {"neighbours": ["euclidean"], **(evaluation or {})},
    }  # fmt: skip
    (planned,) = plan_study(check_study(study)).fits.values()
    return planned.spec


@dataclass
class LandmarkJobs:
    """A folder with the labels, splits and features of a data set, and the jobs on them.

    Parameters
    ----------
    folder : Path
    views : dict of str to (n, d) array
        Features of the descriptors ``a`` and ``b``.
    y : (n,) class codes or numbers
    splits : sequence of Split
    groups : (n,) groups, optional
    """

    folder: Path
    views: Mapping[str, NDArray[Any]]
    y: NDArray[Any]
    splits: Sequence[Split]
    groups: NDArray[np.str_] | None = None
    files: dict[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ids = np.array([f"s{number:03}" for number in range(len(self.y))])
        table = pd.DataFrame({"id": self.ids, "y": self.y, "label": self.y.astype(str)})
        if self.groups is not None:
            table["group"] = self.groups
        names = {"labels": "labels.parquet", "splits": "splits.parquet", "landmarks": "landmarks.npz",
                 "model": "model.npz", "predictions": "predictions.npz"}  # fmt: skip
        self.files = {name: self.folder / file for name, file in names.items()}
        write_table(self.files["labels"], table, {})
        Splits(tuple(self.splits), len(self.y)).save(self.files["splits"], self.ids)

    def block(self, descriptor: str, part: str) -> Path:
        """Write the features of one block, if they are not there."""
        path = self.folder / descriptor / f"{part}.npz"
        if not path.exists():
            rows = rows_of_part(len(self.y), part)
            write_arrays(path, {}, features=self.views[descriptor.split("-")[0]][rows], ids=self.ids[rows])
        return path

    def features(self, descriptors: Sequence[str], parts: Sequence[str]) -> list[Path]:
        """Return the blocks of descriptors, descriptor by descriptor."""
        return [self.block(name, part) for name in descriptors for part in parts]

    def landmarks(self, spec: FitSpec, n_blocks: int = 1) -> LandmarkSetSpec:
        """Run the job that chooses landmarks."""
        _, of_set = landmark_set(spec)
        assert of_set is not None
        common = {name: self.files[name] for name in ("labels", "splits", "landmarks")}
        features = self.features(of_set.descriptors, parts(n_blocks))
        call(load_script("landmarks"), **common, features=features, spec=of_set.as_dict())
        return of_set

    def moments(self, of_set: LandmarkSetSpec, part: str) -> Path:
        """Run the pass over one block."""
        path = self.folder / "moments" / f"{part}.npz"
        common = {name: self.files[name] for name in ("landmarks", "labels", "splits")}
        features = self.features(of_set.descriptors, [part])
        call(load_script("moments"), **common, features=features, moments=path, spec=of_set.as_dict() | {"part": part})
        return path

    def pass_over(self, spec: FitSpec, n_blocks: int = 1) -> list[Path]:
        """Choose landmarks and gather moments; return their blocks."""
        of_set = self.landmarks(spec, n_blocks)
        return [self.moments(of_set, part) for part in parts(n_blocks)]

    def fit(
        self, spec: FitSpec, blocks: Sequence[Path], features: Sequence[Path] | None = None, *, here: bool = False
    ) -> pd.DataFrame:  # fmt: skip
        """Run the job that fits to moments, and embeds blocks of features; return the score rows without times."""
        names = ("labels", "splits", "landmarks", "model", "predictions")
        features = features or self.features(spec.descriptors, [path.stem for path in blocks])
        files = {name: self.files[name] for name in names} | {"moments": list(blocks), "blocks": list(features)}
        call(load_script("fit"), **files, spec=spec.as_dict(), here=here)
        return self.rows()

    def run(self, spec: FitSpec, n_blocks: int = 1) -> pd.DataFrame:
        """Run all jobs; return the score rows without times."""
        return self.fit(spec, self.pass_over(spec, n_blocks))

    def dense(self, spec: FitSpec) -> pd.DataFrame:
        """Fit the same method on kernels among all samples; return the score rows without times."""
        names = ("labels", "splits", "model", "predictions")
        sources = self.features(spec.kernel_features, ["1of1"])
        given = {name: self.files[name] for name in names}
        dense = spec.model_copy(update={"landmarks": None, "fitted_by": None})
        call(load_script("fit"), **given, sources=sources, spec=dense.as_dict())
        return self.rows()

    def rows(self) -> pd.DataFrame:
        """Return the score rows, times left out."""
        frame = rows_of(self.files["predictions"])
        assert list(frame) == list(COLUMNS)
        return frame.drop(columns=list(TIMED))


def parts(n_blocks: int) -> list[str]:
    """Return the names of blocks."""
    return parts_of(n_blocks) or BLOCKS_OF_ONE

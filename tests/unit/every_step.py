"""Run every step of the workflow on small data, each in a process of its own, and note what each of them read.

Usage: ``python every_step.py FOLDER``. Jobs are made as Snakemake makes them - the same plan, files, specifications
and log - and run in forked processes that have loaded third-party packages and the runner, which every job loads
first. All jobs are in ``jobs.json`` when the first line is written; each further line is the number of a job that has
ended. Its record, ``record-NUMBER.json``, is the job with the mklearn modules that it loaded and the files of the
package that it opened, those of the runner included.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

IMAGES = {
    "study": "images",
    "datasets": {"digits": {"per_class": 6, "resize": {"shape": [8, 10]}}},
    "descriptors": {
        "pixels": {"kind": "pixels"},
        "blocks": {"kind": "multiresolution", "resolutions": [2, 4]},
        "patches": {"kind": "patches", "size": 2},
        "hog": {"kind": "hog", "cell": 4},
        "phog": {"kind": "phog", "levels": 2, "sigma": 0.5},
        "lbp": {"kind": "lbp", "grid": 2},
        "sift": {"kind": "sift_grid", "step": 4, "size": 4},
    },
    "kernels": {
        "gauss": {"kind": "gaussian", "descriptor": ["pixels", "hog", "lbp"]},
        "rest": {"kind": "gaussian", "descriptor": ["blocks", "patches", "phog"], "psd": "flip"},
        "linear": {"kind": "linear", "descriptor": "pixels", "centre": True},
        "square": {"kind": "polynomial", "descriptor": "pixels", "normalise": "unit_diagonal"},
        "product": {"kind": "product", "of": ["gauss-hog", "gauss-lbp", "rest-phog"]},
    },
    "methods": {
        "kfd": {"kind": "kernel_fda", "kernels": ["gauss-hog"]},
        "best-single": {"kind": "kernel_fda", "kernel_weights": "best_single", "ridge": [1e-3, 1e-2]},
        "product": {"kind": "kernel_fda", "kernels": ["product"]},
        "klde": {"kind": "kernel_lde", "k": 2, "k_prime": 4},
        "mkl-lda": {"kind": "mkl_dr", "a_step": "trace_ratio"},
        "mkl-lda-sdp": {"kind": "mkl_dr", "beta_step": "sdp", "max_iter": 1, "kernels": ["gauss-hog", "linear"]},
        "multi-view": {"kind": "multi_view", "kernels": ["gauss-hog", "linear"]},
        "mkl-lde": {"kind": "mkl_dr", "graph": "lde", "k": 2, "k_prime": 4, "init": "orthonormal"},
        "kpca": {"kind": "kernel_pca"},
        "kmmc": {"kind": "kernel_mmc", "kernels": ["linear"]},
        "mkmmc": {"kind": "mkmmc", "max_iter": 2, "kernels": ["gauss-hog", "linear"]},
        "convex": {"kind": "convex_mkl_dr"},
        "voting": {"kind": "kernel_voting", "kernels": ["gauss-hog", "linear"]},
        "samme": {"kind": "kernel_samme", "kernels": ["gauss-hog", "linear"], "cv": 2},
        "kernel-ridge": {"kind": "kernel_ridge", "alpha": [1e-3, 1e-2]},
        "embedded-svc": {"kind": "embedded_linear_svc"},
        "loo-mkl": {"kind": "loo_mkl", "kernels": ["gauss-hog", "linear"], "shrinkage": [0.0, 0.5]},
        "guarded": {"kind": "guarded_mkl", "kernels": ["gauss-hog", "linear"], "folds": 2, "repeats": 1},
        "pca": {"kind": "pca"},
        "mmc": {"kind": "mmc", "descriptor": "hog"},
        "fisherface": {"kind": "fisherface", "n_components": 3, "ridge": [0.0, 0.1]},
        "null-space": {"kind": "null_space_lda"},
        "ledoit-wolf": {"kind": "ledoit_wolf_lda"},
        "shrinkage": {"kind": "shrinkage_lda"},
        "raw": {"kind": "nearest_neighbour"},
        "svc": {"kind": "linear_svc", "C": [0.1, 1.0]},
        "kernel-svc": {"kind": "kernel_svc", "C": [1, 10]},
        "mkl-svc": {"kind": "mkl_svc", "kernels": ["gauss-hog", "linear"]},
        "lmkl-svc": {
            "kind": "lmkl_svc",
            "kernels": ["gauss-hog", "linear"],
            "gating": "hog",
            "max_iter": 2,
            "ridge": ["uniform", 0.1],
        },
        "easy-mkl": {"kind": "easy_mkl", "kernels": ["gauss-hog", "linear"]},
        "convex-svc": {"kind": "convex_mkl_dr_svc", "kernels": ["gauss-hog", "linear"]},
        "logistic": {"kind": "logistic_regression", "C": [0.1, 1.0]},
        "gaussian-svc": {"kind": "gaussian_svc", "C": [1, 10]},
        "forest": {"kind": "random_forest", "n_estimators": 5},
        "boosting": {"kind": "gradient_boosting", "max_iter": 2},
        "standardised-lda": {"kind": "standardised_shrinkage_lda", "descriptors": ["hog", "pixels"]},
        "glram": {"kind": "glram", "sizes": [2, 3]},
        "two-d-lda": {"kind": "two_d_lda", "sizes": [2, 3]},
        "two-d-mmc": {"kind": "two_d_mmc", "sizes": [2, 3]},
    },
    "protocols": {"random": {"kind": "random_per_class", "train_size": 4, "repeats": 1}},
}
SUMMARISED = IMAGES | {
    "study": "summarised",
    "methods": {name: IMAGES["methods"][name] for name in ("kfd", "mkl-lda", "pca", "svc", "glram")},
    "report": {"thumbnails": 4},
    "final": {"method": "kfd", "importances": 1},
}
"""The tables and the report of some of them."""
LEARNED = {
    "study": "learned",
    "datasets": {"digits": {"per_class": 2, "resize": {"shape": [96, 90], "interpolation": "bicubic"}}},
    "descriptors": {
        "blur": {"kind": "geometric_blur", "n_points": 30, "n_components": 8},
        "sift": {"kind": "sift_points", "n_points": 20, "n_components": 8},
        "words": {"kind": "dense_sift", "n_words": 12},
        "c2-serre": {"kind": "c2_serre", "n_patches": 8},
        "c2-mutch-lowe": {"kind": "c2_mutch_lowe", "n_patches": 8},
    },
    "methods": {"average": {"kind": "kernel_fda"}},
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}
"""Descriptors that learn from the images first, and whose jobs are split."""
OWN = {
    "study": "own",
    "datasets": {
        "features": {"kind": "feature_tables", "tables": {"first": "first.csv", "second": "second.parquet"}},
        "distances": {"kind": "precomputed", "measure": "squared_euclidean", "matrices": {"d": "d.npz"},
                      "labels": "labels.csv"},
        "kernels": {"kind": "precomputed", "measure": "kernel", "matrices": {"k": "k.npz"}, "labels": "labels.csv"},
    },
    "methods": {"average": {"kind": "kernel_fda"}},
    "protocols": {"given": {"kind": "given", "path": "splits.csv"}},
}  # fmt: skip
TABLE = {
    "study": "table",
    "datasets": {"features": {"kind": "feature_tables", "tables": {"first": "first.csv", "second": "second.parquet"}}},
    "methods": {"pca": {"kind": "pca", "descriptor": "second"}},
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}
"""No kernel method at all."""
GROUPED = {
    "study": "grouped",
    "datasets": {"parity": {"name": "digits", "merge": {"odd": ["1", "3"], "even": ["2", "4"]}}},
    "descriptors": {"blocks": {"kind": "multiresolution", "resolutions": [2]}},
    "methods": {"ledoit-wolf": {"kind": "ledoit_wolf_lda", "descriptor": "blocks"}, "majority": {"kind": "majority"}},
    "protocols": {
        "groups": {"kind": "group_k_fold", "folds": 2},
        "models": {"kind": "validation_folds", "test_size": 10, "folds": 2},
    },
}
"""Classes that are merged; the original ones are the groups."""
PLANE = {
    "study": "plane",
    "datasets": {"gauss4": {"per_class": 20}},
    "descriptors": {"features": {"kind": "table", "table": "features"}},
    "kernels": {"gauss": {"kind": "gaussian"}},
    "methods": {
        kind.replace("_", "-"): {"kind": kind} | ({} if kind.startswith("kernel") else {"descriptor": "features"})
        for kind in (
            "fsvc", "rmm_svc", "r_svm_plus", "r_svm_plus_mu", "ledoit_wolf_svc", "kernel_pca_classifier",
        )
    },
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}  # fmt: skip
"""Linear machines and their kernel forms, on drawn points."""
PAIRED = {
    "study": "paired",
    "datasets": TABLE["datasets"],
    "kernels": {"gauss": {"kind": "gaussian", "descriptor": "second", "feature_scaling": "standard"}},
    "methods": {"svm": {"kind": "linear_svc", "descriptor": ["first", "second"]}, "rbf": {"kind": "kernel_svc"}},
    "protocols": {"pairs": {"kind": "verification", "path": "pairs.csv", "components": 2}},
}
"""Pairs of samples."""
LANDMARKS = {
    "study": "landmarks",
    "rows_per_block": 30,
    "datasets": {"digits": {"per_class": 6}},
    "descriptors": {"pixels": {"kind": "pixels"}},
    "kernels": {"gauss": {"kind": "gaussian"}, "linear": {"kind": "linear"}},
    "methods": {
        "mkl-lda": {"kind": "mkl_dr", "landmarks": 20, "max_iter": 2, "ridge": [1e-3, 1e-2]},
        "kernel-ridge": {"kind": "kernel_ridge", "landmarks": 20},
    },
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}
"""Methods that learn from landmarks, in two blocks: an embedding and a classifier."""
NUMBERS = {
    "study": "numbers",
    "datasets": {"numbers": {"kind": "feature_tables", "tables": {"first": "numbers.csv"}, "target": "height"}},
    "kernels": {kind: {"kind": kind, "descriptor": "first"} for kind in ("laplacian", "matern", "tanimoto")},
    "methods": {
        "average": {"kind": "kernel_ridge_regressor"},
        "many": {"kind": "kernel_ridge_regressor", "landmarks": 5},
        "multi-view": {"kind": "multi_view_regressor"},
        "mean": {"kind": "mean_regressor"},
        "ridge": {"kind": "ridge"},
        "elastic-net": {"kind": "elastic_net"},
        "forest": {"kind": "random_forest_regressor", "n_estimators": 5},
        "boosting": {"kind": "gradient_boosting_regressor", "max_iter": 2},
    },
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}
"""Numbers to predict."""
COLOURED = {
    "study": "coloured",
    "datasets": {"pictures": {"kind": "image_folder", "path": "pictures", "colour": "rgb"}},
    "descriptors": {"colours": {"kind": "colour_histogram"}},
    "methods": {"raw": {"kind": "nearest_neighbour", "descriptor": "colours"}},
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}
PACKAGES = (
    "cffi.api", "clarabel", "cv2", "h5py", "jinja2", "numba", "numpy", "pandas", "psutil", "pyarrow.dataset",
    "pyarrow.pandas_compat", "pyarrow.parquet", "pydantic.fields", "pydantic.functional_validators", "pydantic.main",
    "scipy.linalg", "scipy.ndimage", "scipy.optimize", "skimage.exposure", "skimage.feature", "sklearn.cluster",
    "sklearn.datasets", "sklearn.decomposition", "sklearn.discriminant_analysis", "sklearn.linear_model",
    "sklearn.model_selection", "sklearn.pipeline", "sklearn.svm", "skops.io", "yaml",
)  # fmt: skip
"""What steps import, other than mklearn: loaded once, before jobs are forked."""
FOLDER = {"study": "folder", "datasets": {"pictures": {"kind": "image_folder", "path": "pictures"}}}
SHIPPED = {"study": "shipped", "datasets": {"diabetes": None, "linnerud": None}}
STUDIES = (
    IMAGES, SUMMARISED, LEARNED, OWN, TABLE, GROUPED, PLANE, PAIRED, LANDMARKS, NUMBERS, COLOURED, FOLDER, SHIPPED,
)  # fmt: skip
MIRRORED = {
    "study": "mirrored",
    "datasets": {
        "orl-resized": {"per_class": 2},
        "olivetti": {"per_class": 2},
        "three_sources": {"per_class": 4},
        "mnist": {"per_class": 5},
        "mnist_deformed": {"per_class": 5, "draw": 0},
        "usps": {"per_class": 5},
        "wine": None,
        "yale": None,
    },
    "protocols": {"released": {"kind": "released", "datasets": ["wine"]}},
}
"""One data set for each reader of files that are downloaded, but for Caltech-101's: that archive has 130 MB."""


# --- the user's own files


def write_own_files() -> None:
    """Tables, a matrix, splits and pictures, as a user could bring them."""
    import numpy as np
    import pandas as pd
    from PIL import Image

    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal(size=(36, 4)) + 3 * np.eye(4)[y]
    about = pd.DataFrame({"id": [f"s{i}" for i in range(36)], "label": np.array(["a", "b", "c"])[y]})
    about.to_csv("labels.csv", index=False)
    about.assign(u=X[:, 0], v=X[:, 1]).to_csv("first.csv", index=False)
    about.assign(w=X[:, 2], x=X[:, 3]).to_parquet("second.parquet", index=False)
    numbers = pd.DataFrame({"id": about["id"], "height": X[:, 3] + X[:, 0], "u": X[:, 0], "v": np.abs(X[:, 1])})
    numbers.to_csv("numbers.csv", index=False)
    difference = X[:, None] - X[None]
    np.savez("d.npz", matrix=(difference**2).sum(axis=2), ids=about["id"].to_numpy(dtype=str))
    np.savez("k.npz", matrix=X @ X.T, ids=about["id"].to_numpy(dtype=str))
    roles = np.where(np.arange(36) % 3 == 0, "test", "train")
    pd.DataFrame({"id": about["id"], "role": roles}).to_csv("splits.csv", index=False)
    first, second = np.repeat(np.arange(0, 12, 2), 2), np.stack([np.arange(1, 13, 2), np.arange(12, 24, 2)]).T.ravel()
    ids = about["id"].to_numpy(dtype=str)
    pairs = {"fold": np.arange(12) // 6, "first": ids[first], "second": ids[second]}
    pd.DataFrame(pairs).to_csv("pairs.csv", index=False)
    for name in ("cat", "dog"):
        folder = Path("pictures", name)
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(4):
            pixels = rng.integers(0, 255, size=(20, 16, 3)).astype(np.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.png")


# --- jobs, as the rule of each stage makes them

DATA = ("download", "read", "resize")
TABLES = ("scores", "summary", "run_record", "final_model", "importances", "report")


def jobs() -> Iterator[dict[str, Any]]:
    """Every job of the studies, in an order in which they can run; data of the mirror's small files too."""
    from mklearn.study.config.reading import check_study
    from mklearn.study.config.registry import registered
    from mklearn.study.plan.plan import plan_study
    from mklearn.study.stages.targets import Targets

    for kind in ("geometric_blur", "dense_sift"):  # small data in several jobs too
        setattr(registered("descriptors")[kind], "images_per_job", 15)  # noqa: B010
    for study in STUDIES:
        targets = Targets(plan_study(check_study(study)))
        yield from data_jobs(targets)
        if study not in (FOLDER, SHIPPED):
            yield from model_jobs(targets)
        if study is SUMMARISED:
            yield from table_jobs(targets)
    if os.environ.get("MKLEARN_MIRROR"):
        targets = Targets(plan_study(check_study(MIRRORED)))
        yield from data_jobs(targets)
        yield from jobs_of(targets, ["split"])


def data_jobs(targets: Any) -> Iterator[dict[str, Any]]:
    return jobs_of(targets, DATA)


def model_jobs(targets: Any) -> Iterator[dict[str, Any]]:
    return jobs_of(targets, [name for name in targets.stages if name not in (*DATA, *TABLES)])


def table_jobs(targets: Any) -> Iterator[dict[str, Any]]:
    return jobs_of(targets, TABLES)


def jobs_of(targets: Any, stages: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The jobs of some stages, as their rules make them."""
    for name in stages:
        stage = targets.stages[name]
        for job in targets.jobs(name):
            yield {
                "rule": name, "step": stage.step, "log": job.log, "inputs": job.inputs, "outputs": job.outputs,
                "spec": job.spec, "code": job.code if stage.follows_code else None,
            }  # fmt: skip


# --- running them

OPENED: set[str] = set()
"""What the runner has opened, and in its fork a job."""


def note_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str | os.PathLike):
        OPENED.add(os.path.abspath(os.fspath(arguments[0])))


def load_runner(planned: list[dict[str, Any]]) -> None:
    """Load what every job loads first, and read the source files whose imports its code is found by."""
    runner = importlib.import_module("mklearn.study.steps.runner")
    for made in planned:
        runner.step_code(made["step"], made["spec"])


def run_job(number: int, made: dict[str, Any]) -> None:
    """Run one job as its Snakemake script does, and note what was loaded and opened."""
    runner = importlib.import_module("mklearn.study.steps.runner")
    supervisor = importlib.import_module("mklearn.study.supervisor")
    # in this process, whose modules and files are noted
    supervisor._from_child = lambda work, end, _: supervisor._from_here(work, end)
    for path in [made["log"], *made["outputs"].values()]:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    snakemake = SimpleNamespace(
        input=made["inputs"], output=made["outputs"], params=SimpleNamespace(spec=made["spec"]), threads=1,
        log=[made["log"]],
    )  # fmt: skip
    runner.run(made["rule"], snakemake)
    package = Path(runner.__file__).parents[2]
    data = [path for path in OPENED if path.startswith(f"{package}{os.sep}") and "__pycache__" not in path]
    loaded = {
        name: module.__file__
        for name, module in sys.modules.items()
        if name.split(".")[0] == "mklearn" and getattr(module, "__file__", None)
    }
    record = made | {
        "loaded": loaded,
        "opened": sorted(path for path in data if not path.endswith(".py")),
    }
    Path(f"record-{number}.json").write_text(json.dumps(record), encoding="utf-8")


def in_a_fork(function: Any, *arguments: Any) -> None:
    """Call a function in a forked process; raise if it fails."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function(*arguments)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise SystemExit(f"{function.__name__} failed: {arguments}")


def plan_jobs() -> None:
    write_own_files()
    once = {made["log"]: made for made in jobs()}  # studies share jobs
    Path("jobs.json").write_text(json.dumps(list(once.values())), encoding="utf-8")


def main(folder: Path) -> None:
    """Plan and run all jobs in ``folder``."""
    os.chdir(folder)
    for package in PACKAGES:
        importlib.import_module(package)
    importlib.import_module("numba").njit(lambda: None)()  # loads what the first function that is compiled loads
    in_a_fork(plan_jobs)
    planned = json.loads(Path("jobs.json").read_text(encoding="utf-8"))
    assert not any(name.split(".")[0] == "mklearn" for name in sys.modules)
    print("planned", flush=True)
    sys.addaudithook(note_opened)
    load_runner(planned)
    gc.freeze()  # else each fork looks through all that they hold
    for number, made in enumerate(planned):
        in_a_fork(run_job, number, made)
        print(number, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

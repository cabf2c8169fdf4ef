"""Run small studies of every kind and compare all that they find with what is stored beside this file.

Usage: ``python tests/oracle/oracle.py [--store] [STUDY ...]``; `make oracle` runs all. A value is a difference when it
differs by more than 1e-12 of its size (values that are stored in single precision: 1e-6). Processors differ in the last
bits, and where a choice hangs on them a different processor may give a real difference.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
FOLDER = REPOSITORY / "build" / "oracle"
"""Where the studies run, a folder each: emptied first, so that nothing comes from a cache."""
AT_ONCE = 2
"""Studies that run at the same time, on one core each: most of them end with a fit that others wait for."""
STORED = {"summaries": HERE / "summaries.parquet", "predictions": HERE / "predictions.parquet"}

SETTING = ["study", "dataset", "protocol", "train_size", "method"]
KEYS = {
    "summaries": [*SETTING, "kernel_set", "metric", "neighbour", "selection"],
    "predictions": [*SETTING, "repeat", "fold", "neighbour", "sample"],
}
VALUES = {
    "summaries": [
        "dimension", "n_repeats", "n_failed", "mean", "std", "ci_low", "ci_high", "majority", "difference",
        "difference_low", "difference_high", "p_value", "p_holm", "disagreement",
    ],
    "predictions": ["predicted", "predicted_oracle", "decision_value"],
}  # fmt: skip
SINGLE_PRECISION = ("decision_value",)
TEXTS = ("title", "description", "published", "published_repeats", "calibration", "tolerance", "remarks", "claims")
LEFT_OUT = (*TEXTS, "comparisons", "report")
"""Keys of a study that no number depends on."""


# --- studies


def study_of(name: str, entry: Mapping[str, Any], mirror: Path) -> dict[str, Any]:
    text = yaml.safe_dump(dict(entry)).replace("MIRROR", str(mirror))
    changes = yaml.safe_load(text)
    study = _published(changes.pop("of")) if "of" in changes else {}
    study |= {key: value for key, value in changes.items() if key not in ("without", "predict")}
    study = {key: value for key, value in study.items() if key not in LEFT_OUT} | {"study": name}
    for method in entry.get("without", ()):
        del study["methods"][method]
    _without_absent(study)
    return study


def _published(name: str) -> dict[str, Any]:
    folders = [REPOSITORY / "workflow", *(REPOSITORY / "src" / "mklearn" / "papers").iterdir()]
    (path,) = (path for folder in folders if (path := folder / "studies" / f"{name}.yaml").exists())
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _without_absent(study: dict[str, Any]) -> None:
    """Take data sets and protocols that the study has no more out of the entries that name them."""
    datasets = study["datasets"]
    present = {"protocols": set(study["protocols"]), "datasets": set(datasets)}
    if isinstance(datasets, dict):
        targets = [
            (name, entry["target"]) for name, entry in datasets.items() if isinstance((entry or {}).get("target"), list)
        ]
        present["datasets"] |= {f"{name}-{target}".replace("_", "-") for name, each in targets for target in each}
    for section in ("descriptors", "kernels", "methods", "protocols"):
        for name, entry in list(study.get(section, {}).items()):
            for key in present.keys() & entry.keys():
                kept = [each for each in entry[key] if each in present[key]]
                study[section][name] = entry = entry | {key: kept}
                if not kept:
                    study[section].pop(name, None)


def run(name: str, entry: Mapping[str, Any], mirror: Path) -> dict[str, pd.DataFrame]:
    begin = time.monotonic()
    study = study_of(name, entry, mirror)
    (FOLDER / name).mkdir(parents=True)
    (FOLDER / name / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    model = f"results/{name}/model.mklearn"
    targets = [f"results/{name}/summary.parquet", *([model] if "final" in study else [])]
    _mklearn(name, mirror, "run", "study.yaml", "--cores", "1", "--", *targets)
    if "predict" in entry:
        tables = [f"{view}={file}".replace("MIRROR", str(mirror)) for view, file in entry["predict"].items()]
        _mklearn(name, mirror, "predict", model, *tables, "--output", f"results/{name}/new.parquet")
    print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)
    return values_of(name)


def _mklearn(name: str, mirror: Path, *arguments: str) -> None:
    log = FOLDER / name / "log.txt"
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "src"), "MKLEARN_MIRROR": str(mirror)}
    with log.open("a") as output:
        command = [sys.executable, "-m", "mklearn", *arguments]
        done = subprocess.run(command, cwd=log.parent, env=environment, stdout=output, stderr=output)
    if done.returncode:
        printed = log.read_text(encoding="utf-8")[-2000:]
        raise SystemExit(f"{name}: mklearn {arguments[0]} ended with {done.returncode}; {log} says why:\n{printed}")


# --- values


def values_of(name: str) -> dict[str, pd.DataFrame]:
    """Return the values of a study that was run, a row each: its key, the quantity and the value."""
    results = FOLDER / name / "results"
    summary = pd.read_parquet(results / name / "summary.parquet")
    new = results / name / "new.parquet"
    predicted = pd.read_parquet(results / name / "predictions.parquet").assign(study=name)
    predictions = [_tidy(predicted, "predictions")]
    if new.exists():
        predictions.append(_new_samples(pd.read_parquet(new), name))
    return {"summaries": _tidy(summary, "summaries"), "predictions": pd.concat(predictions)}


def _tidy(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    values = table[VALUES[kind]].astype("float64")
    keys = table[KEYS[kind]].astype("string").fillna("")
    return pd.concat([keys, values], axis=1).melt(KEYS[kind], VALUES[kind], "quantity", "value").dropna()


def _new_samples(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the predictions of new samples: numbers as they are, of words their position in sorted order."""
    values = table.drop(columns="id").apply(lambda c: c if c.dtype.kind in "fiub" else c.astype("category").cat.codes)
    long = values.astype("float64").assign(sample=table["id"].astype("string")).melt("sample", var_name="quantity")
    absent = {key: "" for key in KEYS["predictions"] if key not in ("study", "sample")}
    return long.assign(study=name, **absent | {"method": "final model"})


# --- comparison


def differences(found: pd.DataFrame, stored: pd.DataFrame, keys: list[str]) -> tuple[pd.DataFrame, str]:
    """Return the values that differ or that one side lacks, and a sentence on all."""
    both = found.merge(stored, on=[*keys, "quantity"], how="outer", suffixes=("", "_stored"), indicator=True)
    value, before = both["value"].to_numpy(), both["value_stored"].to_numpy()
    tolerance = np.where(both["quantity"].isin(SINGLE_PRECISION), 1e-6, 1e-12)
    equal = value == before
    close = np.abs(value - before) <= tolerance * np.maximum(1, np.abs(before))
    differs = both[~(equal | close)]
    return (
        differs,
        f"{len(both)} values: {equal.sum()} equal, {(close & ~equal).sum()} within rounding, {len(differs)} different",
    )


def compare(name: str, found: Mapping[str, pd.DataFrame]) -> bool:
    """Print how a study compares with what is stored; return whether all is equal."""
    same = True
    for kind, table in found.items():
        stored = pd.read_parquet(STORED[kind])
        differs, sentence = differences(table, stored[stored["study"] == name], KEYS[kind])
        print(f"{name}, {kind}: {sentence}", flush=True)
        for row in differs.head(20).to_dict("records"):
            key = ", ".join(f"{key} {row[key]}" for key in KEYS[kind][1:] if row[key])
            print(f"  {key}: {row['quantity']} {row['value']!r}, stored {row['value_stored']!r}")
        if len(differs) > 20:
            print(f"  and {len(differs) - 20} more")
        same &= differs.empty
    return same


def store(found: Mapping[str, Mapping[str, pd.DataFrame]]) -> None:
    """Replace what is stored of these studies."""
    for kind, path in STORED.items():
        tables = [each[kind] for each in found.values()]
        if path.exists():
            before = pd.read_parquet(path)
            tables.append(before[~before["study"].isin(found.keys())])
        table = pd.concat(tables).sort_values([*KEYS[kind], "quantity"]).reset_index(drop=True)
        words = dict.fromkeys([*KEYS[kind], "quantity"], "category")
        table.astype(words).to_parquet(path, index=False, compression="zstd", compression_level=19)
        print(f"{path.relative_to(REPOSITORY)}: {len(table)} values, {path.stat().st_size / 1e6:.2f} MB")


def main() -> int:
    """Run the studies; compare them with what is stored, or store them."""
    entries = yaml.safe_load((HERE / "studies.yaml").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=f"of {', '.join(entries)} (default: all)")
    parser.add_argument("--store", action="store_true", help="replace what is stored by what is found now")
    options = parser.parse_args()
    if unknown := set(options.studies) - set(entries):
        parser.error(f"no such study: {', '.join(sorted(unknown))}; there are {', '.join(entries)}")
    mirror = Path(os.environ.get("MKLEARN_MIRROR") or REPOSITORY.parent / "shared" / "data").resolve()
    if not (mirror / "MANIFEST.csv").exists():
        parser.error(f"the studies need the mirror of the data sets; {mirror} is none: set MKLEARN_MIRROR")
    shutil.rmtree(FOLDER, ignore_errors=True)
    chosen = {name: entries[name] for name in options.studies or entries}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = dict(zip(chosen, pool.map(lambda name: run(name, chosen[name], mirror), chosen), strict=True))
    if options.store:
        store(found)
        return 0
    equal = [compare(name, values) for name, values in found.items()]
    if all(equal):
        return 0
    print("Values differ. If a change of this commit explains each of them, say so in it, and store: --store")
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""
A first study
=============

A study is a file that names data, and optionally descriptors, kernels, methods and protocols. This one compares the
average of two kernels with learned kernel weights, on two tables of measurements of wines.
"""

# %%
# Two tables, with one row per sample
# -----------------------------------
#
# Each table is a view of the same samples: a column ``id``, a column ``label`` in at least one table, and features.

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_wine

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
wine = load_wine(as_frame=True)
views = {
    "phenols": ["total_phenols", "flavanoids", "nonflavanoid_phenols", "proanthocyanins"],
    "looks": ["color_intensity", "hue", "od280/od315_of_diluted_wines"],
}
for view, columns in views.items():
    table = wine.data[columns]
    table.insert(0, "id", [f"wine-{number}" for number in range(len(table))])
    table.insert(1, "label", wine.target_names[wine.target])
    table.to_csv(folder / f"{view}.csv", index=False)
table.head()

# %%
# The study file
# --------------
#
# What it omits has a default: one Gaussian kernel for each table, with its scaling chosen by a left-out error of the
# training samples, and five-fold cross-validation.

study = """\
study: wine
datasets:
  wine:
    kind: feature_tables
    tables: {phenols: phenols.csv, looks: looks.csv}
methods:
  average: {kind: kernel_fda, label: Average}
  best: {kind: kernel_fda, label: Best single kernel, kernel_weights: best_single}
  learned: {kind: mkl_dr, label: MKL-LDA}
"""

# %%
# Validate, then run
# ------------------
#
# ``validate`` lists every mistake at once. ``run`` makes what is missing: here ``mklearn run wine.yaml`` on a terminal,
# which shows its progress.


def mklearn(*arguments: str) -> str:
    """Run a command of mklearn in the folder and return what it prints."""
    command = [sys.executable, "-m", "mklearn", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


(folder / "wine.yaml").write_text(study)
print(mklearn("validate", "wine.yaml"))
mklearn("run", "wine.yaml", "--cores", "1")
print((folder / "results/wine/report/answer.txt").read_text())

# %%
# The tables
# ----------
#
# ``report/index.html`` is the page to read. The numbers behind it are tables: here the accuracy of each method by the
# cosine rule, with parameters chosen without the test samples. A second run of the same study finds nothing to do.

summary = pd.read_csv(folder / "results/wine/report/summary.csv")
rows = summary.query("selection == 'inner_cv' and neighbour == 'cosine' and metric == 'accuracy'").sort_values("mean")
figure, axes = plt.subplots(figsize=(6, 2), layout="constrained")
errors = [100 * (rows["mean"] - rows["ci_low"]), 100 * (rows["ci_high"] - rows["mean"])]
axes.errorbar(100 * rows["mean"], rows["method_title"], xerr=errors, fmt="o", capsize=3)
axes.set(xlabel="accuracy, % (95 % interval)", ylim=(-0.5, len(rows) - 0.5))
plt.show()

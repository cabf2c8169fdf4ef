"""
Many samples
============

Kernel matrices grow with the square of the number of samples. With ``landmarks`` the same methods learn from explicit
features, in one pass over the samples and with the same parameters.
"""

# %%
# Landmarks in place of all samples
# ---------------------------------
#
# The dense method uses every training sample. From how many landmarks on is the accuracy the same?

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.moments import Moments
from mklearn.subspace import MKLDR

X, y = load_digits(return_X_y=True)
train, test, y_train, y_test = train_test_split(X, y, test_size=500, random_state=0, stratify=y)
kernels = {"narrow": {"bandwidth": 0.5}, "wide": {"bandwidth": 1.0}, "linear": {"kind": "linear"}}

begin = time.perf_counter()
dense = MKLDR(kernels=kernels).fit(train, y_train).score(test, y_test)
seconds = time.perf_counter() - begin
print(f"dense: {dense:.1%} in {seconds:.1f} s")

numbers = [20, 50, 100, 200, 400]
found = []
for number in numbers:
    begin = time.perf_counter()
    model = MKLDR(kernels=kernels, landmarks=number).fit(train, y_train)
    found.append((model.score(test, y_test), time.perf_counter() - begin))
    print(f"{number} landmarks: {found[-1][0]:.1%} in {found[-1][1]:.1f} s")

# %%
accuracy = 100 * np.array([score for score, _ in found])
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(numbers, accuracy, "o-", label="landmarks")
axes.axhline(100 * dense, color="grey", linestyle="--", label=f"all {len(train)} samples")
axes.set(xlabel="landmarks", ylabel="accuracy, %", xscale="log")
axes.legend()
plt.show()

# %%
# Batch by batch
# --------------
#
# Samples that do not fit into memory come in batches. Landmarks are chosen from some of them; of all the others only
# counts, sums and scatters are kept, which processes or cluster jobs can gather apart and merge.

features = LandmarkFeatures(kernels, n=100).fit(train[:400], y_train[:400])
parts = []
for rows in np.array_split(np.arange(len(train)), 3):
    parts.append(Moments().partial_fit(features.transform(train[rows]), y_train[rows]))
moments = parts[0].merge(parts[1]).merge(parts[2])
model = MKLDR().fit_moments(features, moments)
print(f"{moments.n_samples_} samples in {len(parts)} parts: {model.score(test, y_test):.1%} by the nearest class mean")

# %%
# Cross-validation without another pass
# -------------------------------------
#
# The moments of all folds but one are a difference.

best = {}
for ridge in (1e-5, 1e-3, 1e-1):
    scores = []
    for rows, part in zip(np.array_split(np.arange(len(train)), 3), parts, strict=True):
        fold = MKLDR(ridge=ridge).fit_moments(features, moments.without(part))
        scores.append(fold.score(train[rows], y_train[rows]))
    best[ridge] = np.mean(scores)
    print(f"ridge {ridge:g}: {best[ridge]:.1%}")

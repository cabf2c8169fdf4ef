"""
Your own kernels
================

Any similarity of two samples can be a kernel: of sequences, graphs or sets. Estimators take a stack of matrices, with
``kernels="precomputed"``.
"""

# %%
# Two kernels of one's own
# ------------------------
#
# Histogram intersection compares how dark the rows and columns of an image are. The second kernel counts pairs of
# neighbouring rows that two images have in common, after each row is reduced to a word: a kernel of sequences.

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score

pixels, y = load_digits(n_class=5, return_X_y=True)
pixels, y = pixels[:300], y[:300]
images = pixels.reshape(-1, 8, 8) / 16


def intersection(histograms: np.ndarray) -> np.ndarray:
    """Return sum_k min(a_k, b_k) for all pairs of rows a and b."""
    return np.minimum(histograms[:, None], histograms[None]).sum(axis=2)


def common_words(words: list[list[str]]) -> np.ndarray:
    """Return the number of pairs of words that samples have in common, with their counts."""
    vocabulary = sorted({word for sample in words for word in sample})
    counts = np.array([[sample.count(word) for word in vocabulary] for sample in words], dtype=float)
    return counts @ counts.T


profiles = np.hstack([images.sum(axis=1), images.sum(axis=2)])
rows = [["".join("#" if value > 0.4 else "." for value in row[::2]) for row in image] for image in images]
pairs = [[f"{number}: {above}/{below}" for number, (above, below) in enumerate(pairwise(sample))] for sample in rows]
stack = np.stack([intersection(profiles), common_words(pairs), pixels @ pixels.T], axis=2)
names = ["row and column profiles", "pairs of rows", "linear, pixels"]
stack.shape

# %%
# What a kernel tells
# -------------------
#
# Samples are sorted by class. A kernel that tells the classes apart has bright blocks on its diagonal.

order = np.argsort(y, kind="stable")
figure, axes = plt.subplots(1, 3, figsize=(8, 2.9), layout="constrained")
for axis, name, kernel in zip(axes, names, np.moveaxis(stack, 2, 0), strict=True):
    shown = kernel / np.sqrt(np.outer(np.diag(kernel), np.diag(kernel)))
    axis.imshow(shown[np.ix_(order, order)], cmap="viridis")
    axis.set(title=name, xticks=[], yticks=[])
plt.show()

# %%
# Prepare them: centre, and bring them to one scale
# --------------------------------------------------
#
# Learned weights and averages depend on the scale of the kernels. `mklearn.kernels` centres and scales a stack on its
# training samples; in a study this is the default of ``kind: precomputed``.

from mklearn.kernels import centre_kernel, scale_to_centred_trace

prepared = np.stack([scale_to_centred_trace(centre_kernel(kernel))[0] for kernel in np.moveaxis(stack, 2, 0)], axis=2)

# %%
# Cross-validation slices the stack
# ---------------------------------
#
# Samples come first in the stack, so that scikit-learn's tools slice it as they slice any precomputed kernel.
# (Centring by all samples, as above, uses no labels. A study fits it on the training samples alone.)

from mklearn.subspace import KernelFDA, LeaveOneOutMKL

candidates = {name: KernelFDA(kernels="precomputed", kernel_weights=number) for number, name in enumerate(names)}
candidates["average"] = KernelFDA(kernels="precomputed")
candidates["learned weights"] = LeaveOneOutMKL(kernels="precomputed")
for name, model in candidates.items():
    scores = cross_val_score(model, prepared, y, cv=5)
    print(f"{name:25} {scores.mean():.1%}")
print(model.fit(prepared, y).kernel_weights_.round(2))

# %%
# In a study
# ----------
#
# Square tables with ids are a data set. See :doc:`/docs/own_data`.
#
# .. code-block:: yaml
#
#    study: proteins
#    datasets:
#      proteins:
#        kind: precomputed
#        measure: kernel
#        labels: labels.csv
#        matrices: {profiles: profiles.npz, pairs: pairs.npz}

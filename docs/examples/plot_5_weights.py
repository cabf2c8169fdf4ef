"""
Weights and what they mean
==========================

Learned kernel weights say how kernels are combined, not what they contribute. This example has two views that tell the
same, and one that is noise.
"""

# %%
# Four views
# ----------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mklearn.descriptors.hog import hog
from mklearn.inspection import view_contributions
from mklearn.kernels import Views
from mklearn.subspace import ConvexMKLDR, LeaveOneOutMKL

pixels, y = load_digits(return_X_y=True)
pixels, y = pixels[:400], y[:400]
images = pixels.reshape(-1, 8, 8) / 16
rng = np.random.default_rng(0)
views = Views(
    {
        "pixels": pixels,
        "pixels again": pixels + rng.normal(scale=1.0, size=pixels.shape),
        "hog": hog(images, cell=4),
        "noise": rng.normal(size=(len(y), 20)),
    }
)

# %%
# Weights
# -------
#
# Two ways to learn weights divide the pixels between their two copies in different proportions.

models = {"leave-one-out weights": LeaveOneOutMKL(kernels="gaussian"), "convex MKL-DR": ConvexMKLDR(kernels="gaussian")}
figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
for offset, (name, model) in zip((-0.2, 0.2), models.items(), strict=True):
    weights = model.fit(views, y).kernel_weights_
    axes.bar(np.arange(len(weights)) + offset, weights, width=0.4, label=name)
axes.set(xticks=range(len(views.names)), xticklabels=views.names, ylabel="weight")
axes.legend(frameon=False)
plt.show()

# %%
# Contributions
# -------------
#
# `view_contributions` measures on held-out samples what the method loses if test samples have this view of other
# samples (what the fitted method relies on), and if it is fitted without the view (what no other view replaces).

found = view_contributions(models["convex MKL-DR"], views, y, cv=5, n_permutations=3)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.4), sharey=True, layout="constrained")
for axis, title, parts in (
    (left, "permuted: relied on", [entry.permuted for entry in found]),
    (right, "left out: irreplaceable", [entry.left_out for entry in found]),
):
    mean = 100 * np.array([part.mean for part in parts])
    ends = 100 * np.array([[part.low for part in parts], [part.high for part in parts]])
    axis.errorbar(mean, views.names, xerr=np.abs(ends - mean), fmt="o", capsize=3)
    axis.axvline(0, color="grey", linewidth=0.8)
    axis.set(title=title, xlabel="points of accuracy lost")
left.invert_yaxis()
plt.show()

# %%
# The fitted method relies on pixels; left out, a copy of them is replaced by the other, and its contribution is near 0.
# Noise has a weight, but no contribution. See :doc:`/docs/explanation/weights_and_intervals`.
for entry in found:
    print(f"{entry.view:13} {100 * entry.permuted.mean:5.1f} {100 * entry.left_out.mean:5.1f}")

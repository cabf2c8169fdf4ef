"""
Colour, missing views, and probabilities
========================================

Patches of two photos, described by their colours and their shapes. Some lack a view. The classifier says how sure it
is, and leaves the patches that it is not sure of to a person.
"""

# %%
# Which part of which photo?
# --------------------------
#
# Each patch of 32 x 32 pixels is from the top, the middle or the bottom of one of two photos.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_sample_images
from sklearn.model_selection import train_test_split

from mklearn import MultiViewClassifier
from mklearn.descriptors.colour_histogram import colour_histogram
from mklearn.descriptors.hog import hog
from mklearn.descriptors.lbp import lbp
from mklearn.kernels import Views

side = 32
photos = dict(zip(["temple", "flower"], load_sample_images().images, strict=True))
patches, parts = [], []
for name, photo in photos.items():
    for row in range(0, photo.shape[0] - side, side):
        for column in range(0, photo.shape[1], side):
            patches.append(photo[row : row + side, column : column + side])
            parts.append(f"{name}, {['top', 'middle', 'bottom'][3 * row // photo.shape[0]]}")
images, y = np.array(patches) / 255, np.array(parts)

figure, axes = plt.subplots(2, 6, figsize=(7, 2.6), layout="constrained")
for number, part in enumerate(np.unique(y)):
    for axis, patch in zip(axes[:, number], images[y == part][::40], strict=False):
        axis.imshow(patch)
        axis.set_axis_off()
    axes[0, number].set_title(part, fontsize=8)
plt.show()

# %%
# Views, of which some patches lack one
# -------------------------------------
#
# HOG and LBP are of the grey image. A sample without a view has a row of NaN there: a fifth of the patches lack their
# colours. Here colours alone are the better classifier, which does not predict the patches that lack them.

grey = images.mean(axis=-1)
tables = {"colour": colour_histogram(images), "hog": hog(grey), "lbp": lbp(grey, grid=2)}
rng = np.random.default_rng(0)
tables["colour"][rng.random(len(y)) < 0.2] = np.nan
views = Views(tables)
train, test, y_train, y_test, _, test_images = train_test_split(
    views, y, images, train_size=0.5, stratify=y, random_state=0
)
model = MultiViewClassifier().fit(train, y_train)
right = model.predict(test) == y_test
lacking = np.isnan(test["colour"]).any(axis=1)
seen, asked = ~np.isnan(train["colour"]).any(axis=1), ~lacking
by_colour = MultiViewClassifier().fit(Views({"colour": train["colour"][seen]}), y_train[seen])
accuracies = {
    ("all views", "with colours"): right[asked].mean(),
    ("all views", "without"): right[lacking].mean(),
    ("colours alone", "with colours"): by_colour.score(Views({"colour": test["colour"][asked]}), y_test[asked]),
}
(100 * pd.Series(accuracies)).round(1).unstack()

# %%
# Probabilities, and predictions that are left to a person
# ---------------------------------------------------------
#
# Probabilities are calibrated by the left-out training samples. Of ten predictions with a probability of 80 %, eight
# should be right.

probabilities = model.predict_proba(test)
largest = probabilities.max(axis=1)
bins = pd.cut(largest, np.linspace(0, 1, 6))
reliability = pd.DataFrame({"probability": largest, "right": right}).groupby(bins, observed=True).mean()
thresholds = np.linspace(0, 0.95, 20)
kept = [largest >= threshold for threshold in thresholds]

figure, (left, centre) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
left.plot([0, 1], [0, 1], linestyle="--", color="grey")
left.plot(reliability["probability"], reliability["right"], marker="o")
left.set(xlabel="probability of the predicted class", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1))
centre.plot([100 * rows.mean() for rows in kept], [100 * right[rows].mean() for rows in kept], marker="o")
centre.set(xlabel="predicted, % of the patches", ylabel="accuracy of these, %")
plt.show()

# %%
# The patches that it is least sure of
# ------------------------------------

figure, axes = plt.subplots(1, 6, figsize=(8, 1.9), layout="constrained")
unsure = np.argsort(largest)[:6]
for axis, number in zip(axes, unsure, strict=True):
    axis.imshow(test_images[number])
    axis.set_title(f"{y_test[number]}\n{largest[number]:.0%}", fontsize=7)
    axis.set_axis_off()
plt.show()

# %%
# In a study, ``metrics: [accuracy, log_loss]`` tabulates both, and ``mklearn predict MODEL NEW`` writes the probability
# of each class. See :doc:`/docs/models`.

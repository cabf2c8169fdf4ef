"""
Your own images
===============

A folder with one sub-folder per class is a data set. This example writes such a folder, has ``mklearn init`` write its
study, and then does in Python what the study does: descriptors, a kernel of each, and a discriminant on their average.
"""

# %%
# A folder of images
# ------------------

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
pixels, y = load_digits(n_class=6, return_X_y=True)
images = pixels.reshape(-1, 8, 8) / 16
for digit in range(6):
    (folder / "photos" / f"digit-{digit}").mkdir(parents=True)
for number in range(120):
    grey = Image.fromarray((255 * images[number]).astype(np.uint8)).resize((32, 32), Image.Resampling.BICUBIC)
    grey.save(folder / "photos" / f"digit-{y[number]}" / f"{number}.png")


def mklearn(*arguments: str) -> str:
    """Run a command of mklearn in the folder and return what it prints."""
    command = [sys.executable, "-m", "mklearn", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


print(mklearn("init", "photos"))

# %%
# ``mklearn run photos.yaml`` would now make the report (:ref:`sphx_glr_gallery_plot_1_first_study.py` runs one).
#
# What descriptors see
# --------------------
#
# Each descriptor turns an image into features, and each has its own notion of similarity. The nearest neighbours of one
# image differ.

from mklearn.descriptors.hog import hog
from mklearn.descriptors.lbp import lbp
from mklearn.kernels import Views

views = Views({"pixels": pixels, "hog": hog(images, cell=4), "lbp": lbp(images, grid=2)})
sample = 5
figure, axes = plt.subplots(3, 6, figsize=(7, 3.8), layout="constrained")
for row, name in zip(axes, views.names, strict=True):
    distances = ((views[name] - views[name][sample]) ** 2).sum(axis=1)
    for place, (axis, neighbour) in enumerate(zip(row, np.argsort(distances, kind="stable"), strict=False)):
        axis.imshow(images[neighbour], cmap="gray_r")
        axis.set(xticks=[], yticks=[], title=f"{name}" if place == 0 else f"is a {y[neighbour]}")
plt.show()

# %%
# A kernel of each, and their average
# -----------------------------------
#
# The average is near the best single kernel without anybody having to know which one that is.

from mklearn.subspace import KernelFDA

train, test, y_train, y_test = train_test_split(views, y, train_size=60, stratify=y, random_state=0)
accuracy = {name: KernelFDA(kernels=[{"kind": "gaussian", "view": name}]) for name in views.names}
accuracy["average of all"] = KernelFDA(kernels="gaussian")
for name, model in accuracy.items():
    print(f"{name:15} {model.fit(train, y_train).score(test, y_test):.1%}")

# %%
# The embedding
# -------------
#
# The discriminant puts images of one class together. Filled circles are training images.

embedded = model.transform(test)
figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
axes.scatter(*embedded[:, :2].T, c=y_test, cmap="tab10", vmax=9, s=10, alpha=0.4)
points = axes.scatter(*model.embedding_[:, :2].T, c=y_train, cmap="tab10", vmax=9, s=35, edgecolor="black")
axes.legend(*points.legend_elements(), title="digit", loc="center left", bbox_to_anchor=(1, 0.5))
axes.set(xlabel="component 1", ylabel="component 2")
plt.show()

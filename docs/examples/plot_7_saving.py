"""
Save a model, and predict
=========================

A fitted estimator in a file predicts the same in another process. The file is data, not a program: nothing in it is
executed when it is read.
"""

# %%
# Fit and save
# ------------
#
# The card is yours: any JSON. A study with ``final: {method: best}`` writes such a file too, with a card that says what
# to expect (:doc:`/docs/models`).

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mklearn.descriptors.hog import hog
from mklearn.kernels import Views
from mklearn.saved_models import load_model, save_model
from mklearn.subspace import KernelFDA

pixels, y = load_digits(return_X_y=True)
images = pixels.reshape(-1, 8, 8) / 16
views = Views({"pixels": pixels, "hog": hog(images, cell=4)})
train, test, y_train, y_test, _, test_images = train_test_split(
    views, y, images, train_size=300, stratify=y, random_state=0
)
model = KernelFDA(kernels="gaussian").fit(train, y_train)
temporary = tempfile.TemporaryDirectory()
path = Path(temporary.name) / "digits.mklearn"
save_model(model, path, {"data": "300 digits of scikit-learn", "accuracy on the rest": model.score(test, y_test)})

# %%
# Load and predict
# ----------------

saved = load_model(path)
print(saved.card)
print(saved.versions["mklearn"], f"{path.stat().st_size / 1000:.0f} kB")
predicted = saved.estimator.predict(test)
assert (predicted == model.predict(test)).all()

# %%
# Why was it wrong?
# -----------------
#
# The discriminant predicts the label of the nearest training sample in its embedding. Wrong predictions are mostly
# images that look like their neighbour.

wrong = np.flatnonzero(predicted != y_test)[:6]
embedded = saved.estimator.transform(test)[wrong]
distances = ((embedded[:, None] - saved.estimator.embedding_[None]) ** 2).sum(axis=2)
nearest = distances.argmin(axis=1)
figure, axes = plt.subplots(2, len(wrong), figsize=(8, 3), layout="constrained")
for column, (sample, neighbour) in enumerate(zip(wrong, nearest, strict=True)):
    axes[0, column].imshow(test_images[sample], cmap="gray_r")
    axes[0, column].set(title=f"is a {y_test[sample]}", xticks=[], yticks=[])
    axes[1, column].imshow(train["pixels"][neighbour].reshape(8, 8), cmap="gray_r")
    axes[1, column].set(title=f"near a {y_train[neighbour]}", xticks=[], yticks=[])
axes[0, 0].set_ylabel("test")
axes[1, 0].set_ylabel("nearest training")
plt.show()

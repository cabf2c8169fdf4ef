"""Draw what kernel weights and gates look like: MKL weights over patches, gate maps of several starts, and GAUSS4.

    python docs/draw_lmkl.py FOLDER

Faces are of the data set ``olivetti`` (from ``MKLEARN_MIRROR``, a folder that mirrors the data sets). Maps of softmax
gates may differ between starts: never read those of a single one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from mklearn.classifiers import LMKLSVC, MKLSVC
from mklearn.datasets.read import read_dataset
from mklearn.datasets.registry import entry

WOMEN = ("8", "10", "32", "35")
"""Persons of Olivetti, from 1; assigned by eye to match the 36 men and 4 women of the LMKL paper."""
STARTS = 3
GAUSS4_MEANS = ((-3, 1), (1, 1), (-1, -2.2), (3, -2.2))
GAUSS4_VARIANCES = ((0.8, 2), (0.8, 2), (0.8, 4), (0.8, 4))
"""This library's choice: the paper prints none. The first two components are the positive class."""
INK, PAPER = (24, 68, 122), (250, 247, 240)
POSITIVE, NEGATIVE, GATE, BOUNDARY = (24, 68, 122), (190, 80, 30), (120, 120, 120), (0, 0, 0)


def shaded(values: np.ndarray, size: int) -> Image.Image:
    """Return a grid of values from 0 to 1 as squares: the larger, the darker."""
    colours = np.asarray(PAPER) + values[..., None] * (np.asarray(INK) - np.asarray(PAPER))
    return Image.fromarray(np.uint8(colours.round())).resize(
        (size * values.shape[1], size * values.shape[0]), Image.Resampling.NEAREST
    )


def side_by_side(rows: list[list[Image.Image]], gap: int = 6) -> Image.Image:
    """Return images of one size as a table."""
    width, height = rows[0][0].size
    table = Image.new("RGB", (len(rows[0]) * (width + gap) - gap, len(rows) * (height + gap) - gap), "white")
    for i, row in enumerate(rows):
        for j, image in enumerate(row):
            table.paste(image, (j * (width + gap), i * (height + gap)))
    return table


def patch_kernels(images: np.ndarray, size: int, train: np.ndarray) -> np.ndarray:
    """Return linear kernels of standardised patches with rows of norm 1, (n, n_train, n_kernels)."""
    starts = range(0, images.shape[1], size)
    kernels = []
    for i in starts:
        for j in starts:
            flat = images[:, i : i + size, j : j + size].reshape(len(images), -1)
            deviation = flat[train].std(axis=0, ddof=1)
            Z = (flat - flat[train].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
            Z /= np.linalg.norm(Z, axis=1, keepdims=True)
            kernels.append(Z @ Z[train].T)
    return np.stack(kernels, axis=2)


def faces(mirror: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the images (n, 64, 64) in [0, 1] and whether each shows one of `WOMEN`."""
    known = entry("olivetti")
    samples = read_dataset(known.spec(), {file.name: mirror / str(file.mirror) for file in known.files})
    people = np.array([name.split("/")[0] for name in samples.ids])
    return np.asarray(samples.images, dtype=np.float64) / 255.0, np.isin(people, WOMEN)


def draw_weights(images: np.ndarray, y: np.ndarray, train: np.ndarray) -> Image.Image:
    """Draw MKL weights over 8 x 8 patches of a face, beside the mean face."""
    kernels = patch_kernels(images, 8, train)[train]
    weights = MKLSVC(C=10).fit(kernels, y[train]).kernel_weights_.reshape(8, 8)
    mean = Image.fromarray(np.uint8(255 * images[train].mean(axis=0))).resize((256, 256)).convert("RGB")
    return side_by_side([[mean, shaded(weights / weights.max(), 32)]])


def draw_gates(images: np.ndarray, y: np.ndarray, train: np.ndarray, gate: str, C: float) -> Image.Image:
    """Draw the gates of some faces over 16 x 16 patches, a column for each start; the first column is the face."""
    kernels = patch_kernels(images, 16, train)
    blocks = images.reshape(len(images), 4, 16, 4, 16).mean(axis=(2, 4)).reshape(len(images), -1)
    shown = np.array([5, 75, 95, 205])  # women and men
    columns = [[Image.fromarray(np.uint8(255 * images[i])).resize((128, 128)).convert("RGB") for i in shown]]
    for start in range(STARTS):
        model = LMKLSVC(gate=gate, C=C, random_state=start).fit(kernels[train], y[train], gating=blocks[train])
        eta = model.localized_weights(gating=blocks[shown]).reshape(len(shown), 4, 4)
        columns.append([shaded(each / each.max(), 32) for each in eta])
    return side_by_side([list(row) for row in zip(*columns, strict=True)])


def gauss4(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw n points (n, 2) and their classes, 1 for the first two components."""
    rng = np.random.default_rng(seed)
    component = np.arange(n) % 4
    X = rng.normal(size=(n, 2)) * np.sqrt(GAUSS4_VARIANCES)[component] + np.asarray(GAUSS4_MEANS)[component]
    return X, (component < 2).astype(int)


def linear_and_quadratic(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return x'z and (1 + x'z)^2 of standardised points, at unit diagonal, shape (n, n_train, 2)."""
    mean, deviation = train.mean(axis=0), train.std(axis=0, ddof=1)
    Z, Z_train = (X - mean) / deviation, (train - mean) / deviation
    products = Z @ Z_train.T
    norms, norms_train = (Z**2).sum(axis=1), (Z_train**2).sum(axis=1)
    linear = products / np.sqrt(np.outer(norms, norms_train))
    return np.stack([linear, (1.0 + products) ** 2 / np.outer(1.0 + norms, 1.0 + norms_train)], axis=2)


def draw_gauss4() -> Image.Image:
    """Draw the classes, the decision boundary (black), the gating boundary (grey) and the support vectors (rings)."""
    X, y = gauss4(400, seed=0)
    model = LMKLSVC(C=10).fit(linear_and_quadratic(X, X), y, gating=X)
    low, scale, side = np.array([-6.5, -8.5]), 40, (520, 600)
    columns, rows = np.meshgrid(np.arange(side[0]), np.arange(side[1]))
    points = np.column_stack([columns.ravel(), side[1] - 1 - rows.ravel()]) / scale + low
    values = model.decision_function(linear_and_quadratic(points, X), gating=points).reshape(side[::-1])
    eta = model.localized_weights(gating=points)
    picture = Image.new("RGB", side, "white")
    pixels = np.array(picture)
    for field, colour in (((eta[:, 0] - eta[:, 1]).reshape(side[::-1]), GATE), (values, BOUNDARY)):
        positive = field > 0
        edge = np.zeros_like(positive)
        edge[:-1] |= positive[:-1] != positive[1:]
        edge[:, :-1] |= positive[:, :-1] != positive[:, 1:]
        edge[1:] |= edge[:-1]
        edge[:, 1:] |= edge[:, :-1]
        pixels[edge] = colour
    picture = Image.fromarray(pixels)
    drawing = ImageDraw.Draw(picture)
    support = set(model.support_.tolist())
    for i, (x, z) in enumerate((X - low) * scale):
        place, colour = (x, side[1] - 1 - z), POSITIVE if y[i] else NEGATIVE
        for radius in (2, 5) if i in support else (2,):
            box = (place[0] - radius, place[1] - radius, place[0] + radius, place[1] + radius)
            drawing.ellipse(box, outline=colour, fill=colour if radius == 2 else None)
    return picture


def main(folder: Path) -> None:
    """Write every PNG into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    images, y = faces(Path(os.environ["MKLEARN_MIRROR"]))
    train = np.flatnonzero(np.arange(400) % 10 < 7)  # seven images of each person
    draw_weights(images, y, train).save(folder / "mkl_weights.png", optimize=True)
    for gate, C in (("softmax", 100.0), ("sigmoid", 10.0)):
        draw_gates(images, y, train, gate, C).save(folder / f"gates_{gate}.png", optimize=True)
    draw_gauss4().save(folder / "gauss4.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Draw what each image descriptor takes from an image, for its page: one PNG per descriptor.

Drawn are the quantities that a descriptor measures, by the descriptor's own functions, before learned words, patches or
principal axes come in. The images come with scikit-image. Positions are (row, column).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from skimage import data
from skimage.transform import resize

from mklearn.descriptors.edge_points import edge_points
from mklearn.descriptors.hog import hog
from mklearn.descriptors.images import as_grey_images
from mklearn.descriptors.lbp import binary_patterns, pattern_bins
from mklearn.descriptors.multiresolution import multiresolution
from mklearn.descriptors.phog import phog
from mklearn.descriptors.sift import sift_at
from mklearn.papers.mkl_dr import c2_serre, gabor_c1

SHAPE = (120, 160)
SCALE = 2  # pixels of the drawing per pixel of the image
MARK, FRAME, NON_UNIFORM = (255, 176, 31), (86, 210, 255), (178, 92, 30)


def canvas(image: np.ndarray, brightness: float = 0.42) -> Image.Image:
    """Return an enlarged grey image, stretched to black and white and dimmed so that marks stand out."""
    grey = (image - image.min()) / max(np.ptp(image), 1e-12)
    return enlarged(np.repeat(255 * brightness * grey[..., None], 3, axis=2))


def enlarged(shades: np.ndarray) -> Image.Image:
    """Return colours 0..255 of shape (rows, columns, 3) as an image of ``SCALE`` times the size."""
    height, width, _ = shades.shape
    return Image.fromarray(np.uint8(shades)).resize((SCALE * width, SCALE * height), Image.Resampling.NEAREST)


def draw_sticks(
    picture: Image.Image, centres: np.ndarray, strengths: np.ndarray, angles: np.ndarray, length: float
) -> Image.Image:
    """Draw a stick along each edge direction at each centre: the stronger, the brighter.

    ``strengths`` has shape (centres, directions). ``angles`` are in radians, clockwise from the row axis.
    """
    mask = Image.new("L", picture.size)
    drawing = ImageDraw.Draw(mask)
    reach = SCALE * length / 2 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    shown = np.argwhere(strengths > 0.1 * strengths.max())
    for place, direction in shown[np.argsort(strengths[tuple(shown.T)])]:  # strong sticks above weak ones
        middle = SCALE * (centres[place][::-1] + 0.5)
        ends = [*(middle - reach[direction]), *(middle + reach[direction])]
        drawing.line(ends, fill=round(255 * strengths[place, direction] / strengths.max()), width=2)
    picture.paste(MARK, mask=mask)
    return picture


def draw_grid(picture: Image.Image, n: int, box: tuple[float, ...] | None = None) -> Image.Image:
    """Divide the image, or the ``box`` (top, left, bottom, right) in it, into n x n cells."""
    top, left, bottom, right = box or (0, 0, picture.height / SCALE - 0.5, picture.width / SCALE - 0.5)
    drawing = ImageDraw.Draw(picture)
    for y in SCALE * np.linspace(top, bottom, n + 1):
        drawing.line((SCALE * left, y, SCALE * right, y), fill=FRAME)
    for x in SCALE * np.linspace(left, right, n + 1):
        drawing.line((x, SCALE * top, x, SCALE * bottom), fill=FRAME)
    return picture


def draw_dots(picture: Image.Image, points: np.ndarray) -> Image.Image:
    """Draw a filled circle at each point."""
    drawing = ImageDraw.Draw(picture)
    for row, column in SCALE * (np.reshape(points, (-1, 2)) + 0.5):
        drawing.ellipse((column - 2, row - 2, column + 2, row + 2), fill=MARK)
    return picture


def grid_centres(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return all pairs of a row and a column, shape (k, 2)."""
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)


def cell_centres(shape: tuple[int, ...], rows: int, columns: int) -> np.ndarray:
    """Return the centres of the cells of an image divided into equal cells."""
    return (grid_centres(np.arange(rows), np.arange(columns)) + 0.5) * np.array(shape) / (rows, columns) - 0.5


def draw_multiresolution(image: np.ndarray) -> Image.Image:
    blocks = multiresolution([image], resolutions=[16]).reshape(16, 16)
    rows, columns = (np.arange(length) * 16 // length for length in image.shape)
    return canvas(blocks[np.ix_(rows, columns)], brightness=1.0)


def draw_hog(image: np.ndarray) -> Image.Image:
    rows, columns, bins = image.shape[0] // 8, image.shape[1] // 8, 9
    blocks = hog([image], cell=8, block=2, orientations=bins).reshape(rows - 1, columns - 1, 2, 2, bins)
    cells = np.zeros((rows, columns, bins))
    for i, j in np.ndindex(2, 2):  # each block of 2 x 2 cells is normalised; a cell shows the sum over its blocks
        cells[i : rows - 1 + i, j : columns - 1 + j] += blocks[:, :, i, j]
    angles = (np.arange(bins) + 0.5) * np.pi / bins + np.pi / 2  # bins hold angles of gradients; edges are across them
    return draw_sticks(canvas(image), cell_centres(image.shape, rows, columns), cells.reshape(-1, bins), angles, 7.5)


def draw_phog(image: np.ndarray) -> Image.Image:
    side, bins = 4, 20
    finest = phog([image], levels=3, bins=bins)[0, -side * side * bins :].reshape(-1, bins)
    angles = (np.arange(bins) + 0.5) * np.pi / bins + np.pi / 2
    picture = draw_grid(canvas(image), side)
    return draw_sticks(picture, cell_centres(image.shape, side, side), finest, angles, 0.9 * min(image.shape) / side)


def draw_dense_sift(image: np.ndarray) -> Image.Image:
    size, step = 16, 8
    centres = grid_centres(*(np.arange(size / 2, length - size / 2 + 1, step) - 0.5 for length in image.shape))
    cells = sift_at(image, centres, [float(size)] * len(centres)).reshape(len(centres), 16, 8)
    folded = cells.sum(axis=1).reshape(-1, 2, 4).sum(axis=1)  # both sides of an edge have the same direction
    return draw_sticks(canvas(image), centres, folded, np.pi / 2 - np.arange(4) * np.pi / 4, 0.95 * step)


def draw_sift_grid(image: np.ndarray) -> Image.Image:
    size = 24
    points = grid_centres(*(np.arange(size / 2, length - size / 2 + 1, size) - 0.5 for length in image.shape))
    cells = sift_at(image, points, [float(size)] * len(points)).reshape(-1, 2, 4).sum(axis=1)
    within = grid_centres(*[(np.arange(4) - 1.5) * size / 4] * 2)
    centres = (points[:, None] + within).reshape(-1, 2)
    return draw_sticks(canvas(image), centres, cells, np.pi / 2 - np.arange(4) * np.pi / 4, 0.95 * size / 4)


def draw_c2_serre(image: np.ndarray) -> Image.Image:
    (prepared,) = gabor_c1.prepare_images([image], "c2_serre")
    band = c2_serre.PATCH_BAND
    margin, pool = gabor_c1.SERRE_SIZES[2 * band + 1] // 2, gabor_c1.SERRE_POOLS[band]
    return draw_strongest(prepared, gabor_c1.serre_c1(prepared)[band], margin, pool, pool // 2)


def draw_c2_mutch_lowe(image: np.ndarray) -> Image.Image:
    (prepared,) = gabor_c1.prepare_images([image], "c2_mutch_lowe")
    responses, margin = gabor_c1.pyramid_c1(prepared, 0.5)[0], gabor_c1.PYRAMID_SIZE // 2
    return draw_strongest(prepared, responses, margin, gabor_c1.PYRAMID_POOL, gabor_c1.PYRAMID_STRIDE)


def draw_strongest(image: np.ndarray, responses: np.ndarray, margin: int, pool: int, stride: int) -> Image.Image:
    """Draw the strongest orientation at each position of a C1 map of shape (orientations, rows, columns)."""
    n = len(responses)
    centres = grid_centres(*(margin + stride * np.arange(k) + (pool - 1) / 2 for k in responses.shape[1:]))
    by_place = responses.reshape(n, -1).T
    strongest = np.where(by_place == by_place.max(axis=1, keepdims=True), by_place, 0)
    angles = np.pi / 2 - np.arange(n) * np.pi / n  # a filter of angle 0 answers vertical edges
    return draw_sticks(canvas(image), centres, strongest, angles, 0.95 * stride)


def draw_geometric_blur(image: np.ndarray) -> Image.Image:
    points = edge_points(image, n_points=100)
    picture = draw_dots(canvas(image), points)
    row, column = SCALE * (most_central(points, image) + 0.5)
    for radius in SCALE * np.array([3, 6, 12, 24, 36]):
        box = (column - radius, row - radius, column + radius, row + radius)
        ImageDraw.Draw(picture).ellipse(box, outline=FRAME)
    return picture


def draw_sift_points(image: np.ndarray) -> Image.Image:
    points, size = edge_points(image, n_points=100), 48.0
    top, left = most_central(points, image) + 0.5 - size / 2
    return draw_grid(draw_dots(canvas(image), points), 4, (top, left, top + size, left + size))


def most_central(points: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Return the point nearest to the middle of the image."""
    return points[((points - (np.array(image.shape) - 1) / 2) ** 2).sum(axis=1).argmin()]


def draw_lbp(image: np.ndarray) -> Image.Image:
    """Draw each pixel's code: brightness counts brighter neighbours, brown marks non-uniform patterns."""
    brighter = pattern_bins("rotation_invariant")[binary_patterns(image, 1)]
    shades = np.repeat((brighter * 255 / 8)[..., None], 3, axis=2)
    shades[brighter > 8] = NON_UNIFORM
    return draw_grid(enlarged(shades), 4)


DRAWINGS = {
    "multiresolution": draw_multiresolution, "hog": draw_hog, "phog": draw_phog, "lbp": draw_lbp,
    "geometric_blur": draw_geometric_blur, "sift_points": draw_sift_points, "dense_sift": draw_dense_sift,
    "sift_grid": draw_sift_grid, "c2_serre": draw_c2_serre, "c2_mutch_lowe": draw_c2_mutch_lowe,
}  # fmt: skip
"""By kind of descriptor. ``pixels`` and ``patches`` are the image itself, or blocks of it; colours are not drawn."""


def draw_descriptors(folder: Path) -> None:
    """Write the PNG of every kind of descriptor into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    photos = [resize(photo / 255.0, SHAPE, anti_aliasing=True) for photo in (data.camera(), data.chelsea())]
    images = as_grey_images(photos)
    for kind, draw in DRAWINGS.items():
        drawn = [draw(image) for image in images]
        pair = Image.new("RGB", (sum(part.width for part in drawn) + 6, drawn[0].height))
        pair.paste(drawn[0], (0, 0))
        pair.paste(drawn[1], (drawn[0].width + 6, 0))
        pair.quantize(20).save(folder / f"{kind}.png", optimize=True)

"""What a descriptor takes from an image, as a picture: one function for each kind, from the descriptor's own functions.

Nothing here needs what a descriptor has learned (words, patches, principal axes): shown is what it looks at, before
these come in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.descriptors.images import Grey, Images, as_grey_images
from mklearn.report.sketch import ODD, Picture, Sketch, stacked
from mklearn.report.wording import enumeration, plural

Parameters = Mapping[str, Any]
DIMMED = 0.42
MOST_DESCRIPTORS = 24
"""Of one data set; a study may have one for each patch of an image."""


@dataclass(frozen=True)
class DescriptorPictures:
    """Pictures of one descriptor, or of the images themselves.

    Attributes
    ----------
    title : str
    text : str
        What can be seen, in a sentence or two.
    pictures : list of ndarray
        uint8 of shape (rows, columns, 3), one for each image.
    """

    title: str
    text: str
    pictures: list[Picture]


def descriptor_pictures(
    images: Images, names: Sequence[str], descriptors: Sequence[Mapping[str, Any]]
) -> list[DescriptorPictures]:
    """The images, and each descriptor of them.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        A few: the cost is that of describing them.
    names : sequence of str
        What each image shows.
    descriptors : sequence of dict
        ``id``, ``title``, ``kind`` and ``parameters``. Kinds without a picture (tables of features) are left out, and
        all after the first 24.

    Returns
    -------
    list of DescriptorPictures
        The images first; empty where no descriptor has a picture.
    """
    drawn = [entry for entry in descriptors if entry["kind"] in KINDS][:MOST_DESCRIPTORS]
    if not drawn:
        return []
    grey = as_grey_images(images)
    shown = f"Shown: {enumeration(list(names))}. Colour becomes grey before any descriptor sees it."
    found = [DescriptorPictures("The images", shown, [Sketch(image).picture() for image in grey])]
    for entry in drawn:
        draw, words = KINDS[entry["kind"]]
        parameters = entry.get("parameters") or {}
        title = f"{entry['id']} · {entry['title']}" if entry.get("title") else str(entry["id"])
        pictures = [draw(image, parameters) for image in grey]
        found.append(DescriptorPictures(title, words(parameters), pictures))
    return found


# --- the image, or parts of it


def _pixels(image: Grey, parameters: Parameters) -> Picture:
    from mklearn.descriptors.pixels import pixels

    return Sketch(pixels([image], **parameters).reshape(image.shape)).picture()


def _pixels_text(parameters: Parameters) -> str:
    return "The grey values" + (", divided by their length." if parameters.get("norm") == "l2" else " themselves.")


def _multiresolution(image: Grey, parameters: Parameters) -> Picture:
    from mklearn.descriptors.multiresolution import multiresolution

    tiles = []
    for resolution in parameters["resolutions"]:
        means = multiresolution([image], resolutions=[resolution]).reshape(resolution, resolution)
        row, column = (np.arange(length) * resolution // length for length in image.shape)
        tiles.append(Sketch(means[np.ix_(row, column)]).picture())
    return stacked(tiles)


def _multiresolution_text(parameters: Parameters) -> str:
    return f"Means over {enumeration([f'{r} × {r}' for r in parameters['resolutions']])} blocks."


def _patches(image: Grey, parameters: Parameters) -> Picture:
    from mklearn.descriptors.patches import patches

    size = int(parameters["size"])
    rows, columns = (length // size for length in image.shape)
    chosen = parameters.get("patch")
    found = patches([image], **parameters)[0]
    if parameters.get("statistics") == "mean_std":
        places = found.reshape(-1, 2)
        if chosen is None:
            return stacked([Sketch(np.kron(part.reshape(rows, columns), _square(size))).picture() for part in places.T])
    if chosen is not None:
        top, left = (size * int(place) for place in chosen)
        sketch = Sketch(image, dim=DIMMED)
        sketch.cells(top, left, top + size, left + size, 1, 1)
        return sketch.picture()
    tiles = found.reshape(rows, columns, size, size)
    sketch = Sketch(tiles.transpose(0, 2, 1, 3).reshape(image.shape))
    sketch.grid(rows, columns)
    return sketch.picture()


def _square(side: int) -> NDArray[np.float64]:
    return np.ones((side, side))


def _patches_text(parameters: Parameters) -> str:
    size, chosen = parameters["size"], parameters.get("patch")
    what = "mean and standard deviation" if parameters.get("statistics") == "mean_std" else "the pixels"
    if chosen is not None:
        return f"Of the framed patch of {size} × {size} pixels: {what}."
    if parameters.get("statistics") == "mean_std":
        return f"Mean (above) and standard deviation (below) of each patch of {size} × {size} pixels."
    return f"The pixels of each patch of {size} × {size}."


# --- directions of edges


def _hog(image: Grey, parameters: Parameters) -> Picture:
    from mklearn.descriptors.hog import hog

    cell, block, bins = (int(parameters.get(name, default)) for name, default in _HOG_DEFAULTS.items())
    rows, columns = (length // cell for length in image.shape)
    blocks = hog([image], **parameters).reshape(rows - block + 1, columns - block + 1, block, block, bins)
    total, count = np.zeros((rows, columns, bins)), np.zeros((rows, columns, 1))
    for i in range(block):  # a cell is in up to block^2 blocks, divided by another norm in each
        for j in range(block):
            place = slice(i, rows - block + 1 + i), slice(j, columns - block + 1 + j)
            total[place] += blocks[:, :, i, j]
            count[place] += 1
    sketch = Sketch(image, dim=DIMMED)
    centres = _centres(cell * (np.arange(rows) + 0.5) - 0.5, cell * (np.arange(columns) + 0.5) - 0.5)
    # a bin holds angles of gradients; edges are across them
    angles = (np.arange(bins) + 0.5) * np.pi / bins + np.pi / 2
    sketch.sticks(centres, (total / count).reshape(-1, bins), angles, 0.95 * cell)
    return sketch.picture()


_HOG_DEFAULTS = {"cell": 8, "block": 2, "orientations": 9}


def _hog_text(parameters: Parameters) -> str:
    cell = parameters.get("cell", 8)
    return f"Sticks: directions of the edges in each cell of {cell} × {cell} pixels, the brighter the stronger."


def _phog(image: Grey, parameters: Parameters) -> Picture:
    from mklearn.descriptors.phog import phog

    levels, bins = int(parameters.get("levels", 3)), int(parameters.get("bins", 20))
    side = 2 ** (levels - 1)
    finest = phog([image], **parameters)[0, -side * side * bins :].reshape(-1, bins)
    sketch = Sketch(image, dim=DIMMED)
    sketch.grid(side, side)
    height, width = image.shape
    middles = (np.arange(side) + 0.5) / side
    centres = _centres(middles * height - 0.5, middles * width - 0.5)
    angles = (np.arange(bins) + 0.5) * np.deg2rad(parameters.get("angle", 180)) / bins + np.pi / 2
    sketch.sticks(centres, finest, angles, 0.9 * min(height, width) / side)
    return sketch.picture()


def _phog_text(parameters: Parameters) -> str:
    levels = int(parameters.get("levels", 3))
    cells = 2 ** (levels - 1)
    below = f", the finest of {plural(levels, 'level')}" if levels > 1 else ""
    return f"Sticks: directions of the edges in each of {cells} × {cells} cells{below}, the brighter the stronger."


def _dense_sift(image: Grey, parameters: Parameters) -> Picture:
    from mklearn.descriptors.dense_sift import grid_centres
    from mklearn.descriptors.sift import sift_at

    step, size = int(parameters.get("step", 8)), float(min(parameters.get("sizes", (16,))))
    centres = _centres(*(grid_centres(length, size, step) for length in image.shape))
    cells = sift_at(image, centres, [size] * len(centres)).reshape(len(centres), 16, 8)
    # eight directions of gradients, anticlockwise from the right; an edge has the same for both of its sides
    folded = cells.sum(axis=1).reshape(-1, 2, 4).sum(axis=1)
    sketch = Sketch(image, dim=DIMMED)
    sketch.sticks(centres, folded, np.pi / 2 - np.arange(4) * np.pi / 4, 0.95 * step)
    return sketch.picture()


def _dense_sift_text(parameters: Parameters) -> str:
    sizes, step = [f"{size:g}" for size in parameters.get("sizes", (16, 24, 32))], parameters.get("step", 8)
    return (
        f"Sticks: directions of the edges in the patches of {min(sizes, key=float)} pixels, one every {step} pixels; "
        f"patches are {enumeration(sizes)} pixels wide. Each patch with edges votes for its nearest visual word."
    )


def _c2_serre(image: Grey, parameters: Parameters) -> Picture:
    from mklearn.descriptors import gabor_c1
    from mklearn.descriptors.c2_serre import PATCH_BAND

    (prepared,) = gabor_c1.prepare_images([image], int(parameters.get("short_side", gabor_c1.SHORT_SIDE)), "c2_serre")
    responses = gabor_c1.serre_c1(prepared)[PATCH_BAND]
    margin, pool = gabor_c1.SERRE_SIZES[2 * PATCH_BAND + 1] // 2, gabor_c1.SERRE_POOLS[PATCH_BAND]
    return _strongest(prepared, responses, margin, pool, pool // 2)


def _c2_mutch_lowe(image: Grey, parameters: Parameters) -> Picture:
    from mklearn.descriptors import gabor_c1

    short_side = int(parameters.get("short_side", gabor_c1.SHORT_SIDE))
    (prepared,) = gabor_c1.prepare_images([image], short_side, "c2_mutch_lowe")
    responses = gabor_c1.pyramid_c1(prepared, float(parameters.get("inhibition", 0.5)))[0]
    margin, pool, stride = gabor_c1.PYRAMID_SIZE // 2, gabor_c1.PYRAMID_POOL, gabor_c1.PYRAMID_STRIDE
    return _strongest(prepared, responses, margin, pool, stride)


def _strongest(image: Grey, responses: NDArray[np.float32], margin: int, pool: int, stride: int) -> Picture:
    """The strongest of the orientations at each place of C1."""
    kinds, rows, columns = responses.shape
    row, column = (margin + stride * np.arange(n) + (pool - 1) / 2 for n in (rows, columns))
    centres = _centres(row, column)
    by_place = responses.reshape(kinds, -1).T
    kept = np.where(by_place == by_place.max(axis=1, keepdims=True), by_place, 0)
    sketch = Sketch(image, dim=DIMMED)
    # a filter of angle 0 answers vertical edges, and filters turn anticlockwise
    sketch.sticks(centres, kept, np.pi / 2 - np.arange(kinds) * np.pi / kinds, 0.95 * stride)
    return sketch.picture()


def _c2_text(directions: int) -> Callable[[Parameters], str]:
    def text(parameters: Parameters) -> str:
        return (
            f"Sticks: the strongest of {directions} directions at each place of C1, the responses that "
            f"{int(parameters['n_patches']):,} patches, cut from other images, are looked for in."
        )

    return text


def _centres(rows: NDArray[np.floating], columns: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)


# --- points and codes


def _geometric_blur(image: Grey, parameters: Parameters) -> Picture:
    from mklearn.descriptors.edge_points import edge_points

    points = edge_points(image, **_edge_parameters(parameters))
    sketch = Sketch(image, dim=DIMMED)
    sketch.dots(points)
    if len(points):
        middle = _most_central(points, image)
        for radius in parameters["radii"]:
            sketch.ring(middle, radius)
        sketch.dots([middle], radius=4)
    return sketch.picture()


def _geometric_blur_text(parameters: Parameters) -> str:
    radii = enumeration([f"{radius:g}" for radius in parameters["radii"]], limit=8)
    return (
        f"Dots: the edge points that are described, up to {parameters['n_points']}. Rings: where the edges around one "
        f"of them are sampled, {radii} pixels away, blurred the more the farther."
    )


def _sift_points(image: Grey, parameters: Parameters) -> Picture:
    from mklearn.descriptors.edge_points import edge_points

    points = edge_points(image, **_edge_parameters(parameters))
    size = float(parameters.get("size", 48.0))
    sketch = Sketch(image, dim=DIMMED)
    sketch.dots(points)
    if len(points):
        middle = _most_central(points, image)
        top, left = middle + 0.5 - size / 2
        sketch.cells(top, left, top + size, left + size, 4, 4)
        sketch.dots([middle], radius=4)
    return sketch.picture()


def _sift_points_text(parameters: Parameters) -> str:
    return (
        f"Dots: the edge points that are described, up to {parameters['n_points']}. Square: the patch of "
        f"{float(parameters.get('size', 48.0)):g} pixels around one of them, in 4 × 4 cells."
    )


def _edge_parameters(parameters: Parameters) -> dict[str, Any]:
    return {name: parameters[name] for name in ("n_points", "sigma", "threshold") if name in parameters}


def _most_central(points: NDArray[np.int64], image: Grey) -> NDArray[np.int64]:
    middle = (np.array(image.shape) - 1) / 2
    return np.asarray(points[((points - middle) ** 2).sum(axis=1).argmin()])


def _lbp(image: Grey, parameters: Parameters) -> Picture:
    from mklearn.descriptors.lbp import binary_patterns, pattern_bins

    brighter = pattern_bins("rotation_invariant")[binary_patterns(image, int(parameters.get("radius", 1)))]
    shades = np.repeat((brighter * 255 / 8)[..., None], 3, axis=2)
    shades[brighter > 8] = ODD
    sketch = Sketch(shades)
    sketch.grid(*(2 * [int(parameters.get("grid", 4))]))
    return sketch.picture()


def _lbp_text(parameters: Parameters) -> str:
    grid = parameters.get("grid", 4)
    return (
        "Each pixel's code: the brighter the more of its eight neighbours are at least as bright as it, brown where "
        f"they take turns. Counted in each of {grid} × {grid} cells."
    )


KINDS: dict[str, tuple[Callable[[Grey, Parameters], Picture], Callable[[Parameters], str]]] = {
    "pixels": (_pixels, _pixels_text),
    "multiresolution": (_multiresolution, _multiresolution_text),
    "patches": (_patches, _patches_text),
    "hog": (_hog, _hog_text),
    "phog": (_phog, _phog_text),
    "lbp": (_lbp, _lbp_text),
    "geometric_blur": (_geometric_blur, _geometric_blur_text),
    "sift_points": (_sift_points, _sift_points_text),
    "dense_sift": (_dense_sift, _dense_sift_text),
    "c2_serre": (_c2_serre, _c2_text(4)),
    "c2_mutch_lowe": (_c2_mutch_lowe, _c2_text(12)),
}
"""By the kind of a descriptor's specification: what draws an image, and what says what is drawn."""

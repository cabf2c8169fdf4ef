"""Edge points of an image, at which geometric blur and SIFT are computed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklearn.descriptors.images import Grey
from mklearn.extras import require

# Width in pixels of the Gaussian before edge detection.
_SIGMA = 2**0.5

# Edges start where the gradient is above this share of the strongest one. Weak edges connected to strong ones count,
# down to `_LOW_TO_HIGH` times that, as in MATLAB's `edge`.
_THRESHOLD = 0.2
_LOW_TO_HIGH = 0.4

# Grey values are rounded to this step after stretching. Otherwise the rounding errors of a brightness or contrast
# change (1e-16) would decide which of two equal pixels is the edge.
_STEP = 2.0**-16


def edge_points(image: Grey, *, n_points: int = 160) -> NDArray[np.int64]:
    """Select edge pixels that are spread over the edges of an image.

    Edges are Canny's, after smoothing by a Gaussian of sqrt(2) pixels: pixels with at least 0.2 times the strongest
    gradient, and those connected to them with at least 0.08 times. The first point is the strongest edge pixel; each
    next one is the edge pixel farthest from all points so far [1]_. No edge pixel is then farther from its nearest
    point than the points are from each other.

    Parameters
    ----------
    image : ndarray of shape (h, w)
        Grey, of any range.
    n_points : int
        Largest number of points. MKL-DR (NIPS 2008) uses 300.

    Returns
    -------
    ndarray of int64, shape (k, 2)
        Row and column of k <= n_points points in the order of selection: the first m points equal the
        result of ``n_points=m``. k is 0 for an image without edges (flat, or less than 3 pixels high or wide), and the
        number of edge pixels where these are fewer than `n_points`. Pixels on the border are never edges. Invariant to
        added brightness and to contrast.

    Notes
    -----
    Deviation from MKL-DR, which samples edge pixels at random: the selection is deterministic, so the points of an
    image depend only on the image. A mirrored image gives the mirrored points up to ties between equally far pixels.

    References
    ----------
    .. [1] Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical Computer Science 38, 1985.
    """
    return spread_points(thinned_gradient(image)[0], n_points)


def stretch(image: Grey) -> Grey:
    """Map the grey values of an image linearly to 0..1, in steps of 2^-16; a flat image becomes zeros."""
    low, high = float(image.min()), float(image.max())
    # halved first, as the range of finite values can exceed the largest float
    span = high / 2 - low / 2
    if span <= 1e-12 * max(abs(low), abs(high)):
        return np.zeros_like(image)
    stretched: Grey = np.rint((image / 2 - low / 2) / span / _STEP) * _STEP
    return stretched


def thinned_gradient(image: Grey) -> tuple[Grey, Grey]:
    """Compute the gradient of a smoothed image at its maxima across the edge, as in Canny's detector.

    Returns
    -------
    strength : ndarray of shape (h, w)
        Size of the Sobel gradient of the stretched image at local maxima; 0 elsewhere and on the border.
    orientation : ndarray of shape (h, w)
        Direction of the gradient without its sign, in [0, pi); 0 where brightness changes along a row.
    """
    require("skimage")
    from scipy import ndimage
    from skimage.feature import canny

    smooth = ndimage.gaussian_filter(stretch(image), _SIGMA, mode="nearest")
    down, right = ndimage.sobel(smooth, axis=0), ndimage.sobel(smooth, axis=1)
    # the low threshold removes the ripple of 1e-16 that smoothing leaves on flat parts
    maxima = canny(smooth, sigma=0, low_threshold=1e-9, high_threshold=1e-9, mode="nearest")
    orientation = np.arctan2(down, right) % np.pi
    # the modulo of a tiny negative angle rounds to pi
    orientation[orientation >= np.pi] = 0
    return np.where(maxima, np.hypot(down, right), 0.0), orientation


def spread_points(strength: Grey, n_points: int) -> NDArray[np.int64]:
    """Sample the edges of a thinned gradient by farthest points; see `edge_points`."""
    from scipy import ndimage

    strongest = strength.max()
    weak = strength > _LOW_TO_HIGH * _THRESHOLD * strongest
    labels, count = ndimage.label(weak, np.ones((3, 3)))
    keep = np.zeros(count + 1, dtype=bool)
    keep[labels[weak & (strength >= _THRESHOLD * strongest)]] = True
    keep[0] = False
    edges = np.argwhere(keep[labels])
    k = min(n_points, len(edges))
    chosen = np.zeros(k, dtype=np.int64)
    if k == 0:
        return edges[chosen]
    row, column = edges.T.astype(np.float64)
    chosen[0] = strength[edges[:, 0], edges[:, 1]].argmax()
    nearest = np.full(len(edges), np.inf)
    for number in range(1, k):
        last = chosen[number - 1]
        np.minimum(nearest, (row - row[last]) ** 2 + (column - column[last]) ** 2, out=nearest)
        chosen[number] = nearest.argmax()
    return edges[chosen]

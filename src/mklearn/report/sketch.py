"""Drawing over a photo: dots, rings, squares, and sticks for oriented edges. What descriptor pictures are made with.

Positions are rows and columns of the photo's pixels, (0, 0) being the centre of the first one, as descriptors have
them; the picture is larger or smaller by a factor, and drawn at twice its size for smooth lines.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Picture = NDArray[np.uint8]

LONGEST = 300
"""Pixels of a picture's longer side; the page shows it at half of that or a little more."""
_FINE = 2
_LINE = 3
MARK = (255, 176, 31)
"""Stands out on a dimmed photo, whatever scheme the page has."""
SECOND = (86, 210, 255)
ODD = (178, 92, 30)


class Sketch:
    """A picture in the making.

    Parameters
    ----------
    photo : array-like, shape (h, w) or (h, w, 3)
        Grey of any range, which is stretched to black and white; or colours in 0..255, which are left alone.
    dim : float
        What is left of the photo's brightness.
    """

    def __init__(self, photo: ArrayLike, *, dim: float = 1.0) -> None:
        from PIL import Image, ImageDraw

        values = np.asarray(photo, dtype=np.float64)
        grey = stretched(values) if values.ndim == 2 else values
        pixels = Image.fromarray(np.rint(dim * grey).astype(np.uint8)).convert("RGB")
        height, width = values.shape[:2]
        self.scale = _FINE * LONGEST / max(height, width)
        size = (max(_FINE, round(width * self.scale)), max(_FINE, round(height * self.scale)))
        # pixels that are blown up are the image itself, and stay squares
        blown_up = self.scale > 3 * _FINE
        self._image = pixels.resize(size, Image.Resampling.NEAREST if blown_up else Image.Resampling.BICUBIC)
        self._draw = ImageDraw.Draw(self._image)
        self._shape = (height, width)

    def dots(self, positions: ArrayLike, radius: float = 2.2, colour: tuple[int, int, int] = MARK) -> None:
        """Filled circles of `radius` pixels of the picture."""
        for y, x in self._places(positions):
            r = _FINE * radius
            self._draw.ellipse((x - r, y - r, x + r, y + r), fill=colour)

    def ring(self, centre: ArrayLike, radius: float, colour: tuple[int, int, int] = SECOND) -> None:
        """A circle of `radius` pixels of the photo."""
        ((y, x),) = self._places(centre)
        r = radius * self.scale
        self._draw.ellipse((x - r, y - r, x + r, y + r), outline=colour, width=_LINE)

    def cells(self, top: float, left: float, bottom: float, right: float, rows: int, columns: int) -> None:
        """A rectangle divided into cells; its sides lie between pixels, 0 before the first and h after the last."""
        ys = np.linspace(top, bottom, rows + 1) * self.scale
        xs = np.linspace(left, right, columns + 1) * self.scale
        for y in ys:
            self._draw.line((xs[0], y, xs[-1], y), fill=SECOND, width=_LINE)
        for x in xs:
            self._draw.line((x, ys[0], x, ys[-1]), fill=SECOND, width=_LINE)

    def grid(self, rows: int, columns: int) -> None:
        """The whole photo divided into cells."""
        self.cells(0, 0, *self._shape, rows, columns)

    def sticks(self, positions: ArrayLike, strengths: ArrayLike, directions: ArrayLike, length: float) -> None:
        """At every position a stick along each direction, the brighter the stronger.

        Parameters
        ----------
        positions : array-like, shape (k, 2)
        strengths : array-like, shape (k, d)
            Non-negative. The largest of all is fully opaque; none is drawn for what is below a tenth of it.
        directions : array-like, shape (d,)
            Angles of edges in radians: 0 along a row, growing from the columns' axis to the rows' (clockwise as seen).
        length : float
            Of a stick, in pixels of the photo.
        """
        from PIL import Image, ImageDraw

        strengths = np.asarray(strengths, dtype=np.float64)
        directions = np.asarray(directions, dtype=np.float64)
        most = strengths.max(initial=0.0)
        if not most > 0:
            return
        mask = Image.new("L", self._image.size)
        draw = ImageDraw.Draw(mask)
        places = self._places(positions)
        reach = self.scale * length / 2 * np.stack([np.sin(directions), np.cos(directions)], axis=1)
        opacity = np.rint(255 * strengths / most).astype(int)
        legible = np.argwhere(strengths > 0.1 * most)
        for k, d in legible[np.argsort(strengths[tuple(legible.T)], kind="stable")]:  # strong ones above weak ones
            (y, x), (down, right) = places[k], reach[d]
            draw.line((x - right, y - down, x + right, y + down), fill=int(opacity[k, d]), width=_LINE)
        self._image.paste(MARK, mask=mask)

    def picture(self) -> Picture:
        """The finished picture, uint8 of shape (rows, columns, 3)."""
        from PIL import Image

        width, height = (max(1, side // _FINE) for side in self._image.size)
        return np.asarray(self._image.resize((width, height), Image.Resampling.BOX), dtype=np.uint8)

    def _places(self, positions: ArrayLike) -> NDArray[np.float64]:
        return (np.asarray(positions, dtype=np.float64).reshape(-1, 2) + 0.5) * self.scale


def stretched(values: ArrayLike) -> NDArray[np.float64]:
    """Values mapped linearly to 0..255; equal ones become a middle grey."""
    grey = np.asarray(values, dtype=np.float64)
    low, high = float(grey.min()), float(grey.max())
    return 255 * (grey - low) / (high - low) if high > low else np.full(grey.shape, 128.0)


def stacked(pictures: Sequence[Picture], gap: int = 6) -> Picture:
    """Pictures of one width below each other, with a gap of middle grey between them."""
    width = max(picture.shape[1] for picture in pictures)
    parts: list[Picture] = []
    for picture in pictures:
        if parts:
            parts.append(np.full((gap, width, 3), 128, dtype=np.uint8))
        parts.append(np.pad(picture, ((0, 0), (0, width - picture.shape[1]), (0, 0)), constant_values=128))
    return np.concatenate(parts)

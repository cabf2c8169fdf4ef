"""The descriptors of images in a study that names none."""

from __future__ import annotations

from typing import Any

from mklearn.study.config.entries import Descriptor


def image_descriptors(side: int | None = None, *, in_colour: bool = False) -> dict[str, Descriptor]:
    """Return the descriptors by name; cells and blocks follow the shorter side of the images.

    Of images in colour there is a histogram of the colours too; the others take them as grey.
    """
    side = side or 64
    resolutions = [r for r in (2, 4, 8, 16) if r <= side // 2][-3:] or [1]
    entries: dict[str, dict[str, Any]] = {
        "pixels": {"kind": "pixels"},
        "blocks": {"kind": "multiresolution", "resolutions": resolutions},
        "hog": {"kind": "hog", "cell": max(1, min(8, side // 4))},
        "phog": {"kind": "phog"},
        "lbp": {"kind": "lbp"},
        **({"colour": {"kind": "colour_histogram"}} if in_colour else {}),
    }
    return {name: Descriptor.model_validate(entry) for name, entry in entries.items()}

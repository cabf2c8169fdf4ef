"""The descriptors of images in a study that names none."""

from __future__ import annotations

from typing import Any

from mklearn.descriptors.models import Descriptor
from mklearn.study.config.registry import REGISTRATIONS


def image_descriptors(side: int | None = None, *, in_colour: bool = False) -> dict[str, Descriptor]:
    """Return the descriptors by name; cells and blocks follow the shorter side of the images.

    Of images in colour there is a histogram of the colours too; the others take them as grey.
    """
    side = side or 64
    resolutions = [r for r in (2, 4, 8, 16) if r <= side // 2][-3:] or [1]
    return {
        "pixels": _model("pixels"),
        "blocks": _model("multiresolution", resolutions=resolutions),
        "hog": _model("hog", cell=max(1, min(8, side // 4))),
        "phog": _model("phog"),
        "lbp": _model("lbp"),
        **({"colour": _model("colour_histogram")} if in_colour else {}),
    }


def _model(kind: str, **fields: Any) -> Descriptor:
    made = REGISTRATIONS["descriptors"][kind].model.model_validate({"kind": kind, **fields})
    assert isinstance(made, Descriptor)
    return made

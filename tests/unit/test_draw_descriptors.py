"""The documentation's images of descriptors can be drawn again, for every descriptor that is more than the image."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
from skimage import data

from mklearn.study.registry import registered

SCRIPT = Path(__file__).parents[2] / "docs" / "draw_descriptors.py"


def test_every_image_descriptor_is_drawn():
    spec = importlib.util.spec_from_file_location("draw_descriptors", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    kinds = {kind for kind, model in registered("descriptors").items() if model.family == "images"}
    assert kinds == {"pixels", "patches", *script.DRAWINGS}
    assert {path.stem for path in script.FOLDER.glob("*.png")} == set(script.DRAWINGS)
    image = data.camera()[::4, ::4] / 255.0
    for kind, draw in script.DRAWINGS.items():
        assert np.ptp(np.asarray(draw(image))) > 90, kind

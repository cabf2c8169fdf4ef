"""The documentation's images of descriptors can be drawn again, for every descriptor that is more than the image."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from skimage import data

from mklearn.study.config.registry import registered


def test_every_image_descriptor_is_drawn(repository, monkeypatch):
    pytest.importorskip("mklearn.papers")
    monkeypatch.syspath_prepend(str(repository / "docs" / "site"))
    script = importlib.import_module("descriptor_pictures")
    kinds = {kind for kind, model in registered("descriptors").items() if model.family == "images"}
    assert kinds == {"pixels", "patches", "colour_histogram", *script.DRAWINGS}
    image = data.camera()[::4, ::4] / 255.0
    for kind, draw in script.DRAWINGS.items():
        assert np.ptp(np.asarray(draw(image))) > 90, kind

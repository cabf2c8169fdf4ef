"""Descriptors: functions from images to features, most of them in a file of their name.

Import from the file, ``from mklearn.descriptors.hog import hog``: in the package, the name ``hog`` is the module. All
raise `mklearn.errors.ConfigError` for invalid parameters, and `mklearn.errors.DataError` for invalid images.
"""

import lazy_loader as _lazy

from mklearn.descriptors.table import DESCRIPTORS as _DESCRIPTORS
from mklearn.rows import exported as _exported

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submodules=[*_exported(_DESCRIPTORS, __name__), "edge_points", "point_sets"],
    submod_attrs={"images": ["as_grey_images"], "point_sets": ["PointSets"]},
)

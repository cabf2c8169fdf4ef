"""Descriptors: functions from images to features, most of them in a file of their name.

Import from the file, ``from mklearn.descriptors.hog import hog``: in the package, the name ``hog`` is the module. All
raise `mklearn.errors.ConfigError` for invalid parameters, and `mklearn.errors.DataError` for invalid images.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submodules=[
        "colour_histogram",
        "dense_sift",
        "edge_points",
        "geometric_blur",
        "hog",
        "lbp",
        "multiresolution",
        "patches",
        "phog",
        "pixels",
        "point_sets",
        "sift",
    ],
    submod_attrs={"images": ["as_grey_images"], "point_sets": ["PointSets"]},
)

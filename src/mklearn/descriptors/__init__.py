"""Descriptors: functions from images to features, one file each; every function is named after its file.

``from mklearn.descriptors.hog import hog``: the functions are not lifted to the package, where a function and its file
would compete for one name.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submodules=["hog", "lbp", "multiresolution", "patches", "phog", "pixels"],
    submod_attrs={"images": ["as_grey_images"]},
)

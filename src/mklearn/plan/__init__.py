"""The plan of a study: every file that it makes, with the full specification behind each.

A study file has short forms - lists of bandwidths, ``each`` kernel, defaults. The plan spells them out as plain
dictionaries of builtin types, derives each file's key from them, and hands them to the workflow. Two studies that
share a specification share the file.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "study": ["Plan", "plan_study"],
        "datasets": ["PlannedDataset"],
        "fits": ["PlannedFit"],
    },
)

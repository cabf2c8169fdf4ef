"""Data sets: registry of public ones, readers (also for own data), downloads, resizing, selection and splits."""

import lazy_loader as _lazy

from mklearn.extras import require as _require

_require("pandas", "pydantic", "yaml")
__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "samples": ["SampleSet"],
        "registry": ["entry", "dataset_spec"],  # not registry(), which would hide the module of this name
        "read": ["read_dataset"],
        "download": ["fetch"],
        "selection": ["chosen_rows"],
        "resizing": ["resize_images"],
        "splits": ["Split", "Splits", "random_per_class", "k_fold", "given"],
        "grouped_splits": ["group_k_fold", "validation_folds"],
        "pairs": ["Pairs", "PairLists", "random_pairs", "given_pairs", "lfw_pairs", "verification"],
    },
)

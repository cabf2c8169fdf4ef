"""Data sets: a registry of public ones, readers (for your own data too), downloads, resizing and splits."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__,
    submod_attrs={
        "samples": ["SampleSet"],
        "registry": ["entry", "dataset_spec"],  # its function registry() would hide the module of this name
        "read": ["read_dataset", "data_files"],
        "download": ["fetch", "fetch_dataset"],
        "selection": ["chosen_rows"],
        "resizing": ["resize_images"],
        "splits": ["Split", "Splits", "random_per_class", "k_fold", "given", "by_id_prefix"],
        "pairs": ["Pairs", "random_pairs", "given_pairs"],
    },
)

"""Fitted estimators in files, without pickles: what is written, and what is checked before and after reading."""

from mklearn.saved_models.model_file import (
    FORMAT,
    TRUSTED,
    SavedModel,
    fitted_bytes,
    from_bytes,
    load_model,
    save_model,
    verify_model,
    versions,
)

__all__ = [
    "FORMAT",
    "TRUSTED",
    "SavedModel",
    "fitted_bytes",
    "from_bytes",
    "load_model",
    "save_model",
    "verify_model",
    "versions",
]

"""Fitted estimators in files, without pickles: what is written, and what is checked before and after reading."""

from mklearn.saved_models.model_file import FORMAT as FORMAT
from mklearn.saved_models.model_file import TRUSTED as TRUSTED
from mklearn.saved_models.model_file import SavedModel as SavedModel
from mklearn.saved_models.model_file import fitted_bytes as fitted_bytes
from mklearn.saved_models.model_file import from_bytes as from_bytes
from mklearn.saved_models.model_file import load_model as load_model
from mklearn.saved_models.model_file import save_model as save_model
from mklearn.saved_models.model_file import verify_model as verify_model
from mklearn.saved_models.model_file import versions as versions

__all__ = ["SavedModel", "load_model", "save_model", "verify_model"]

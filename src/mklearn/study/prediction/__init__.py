"""Predictions of a study's model for new images and tables: reading them as in the study, and tables of results."""

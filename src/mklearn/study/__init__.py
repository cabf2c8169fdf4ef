"""The workflow: from a study file to tables, a page and a model. Nothing in the library imports it."""

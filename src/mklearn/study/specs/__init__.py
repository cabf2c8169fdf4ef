"""Frozen specifications of the workflow's jobs."""

"""Frozen specifications of the jobs of the workflow."""

"""Expansion of a study into frozen specifications, each with a key derived from its content."""

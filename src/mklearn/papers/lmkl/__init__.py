"""Gonen, Alpaydin: Localized multiple kernel learning on images (2008)."""

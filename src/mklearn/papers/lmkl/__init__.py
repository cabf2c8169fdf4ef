"""Gonen, Alpaydin: Localized multiple kernel machines for image recognition, and its GAUSS4."""

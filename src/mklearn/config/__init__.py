"""Models of the methods that a study can name."""

"""The expansion of a study into frozen specifications, with a key for each from its content."""

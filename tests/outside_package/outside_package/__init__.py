"""An example of a package that adds to mklearn by entry points."""

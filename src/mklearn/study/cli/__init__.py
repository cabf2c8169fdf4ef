"""The command line ``mklearn``: one file per subject, which adds its commands to the parser."""

"""The command line ``mklearn``, one file per subject; each adds its commands to the parser."""

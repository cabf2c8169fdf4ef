"""Readers, one file per format with ``read(paths, **options) -> SampleSet``; loaded by name."""

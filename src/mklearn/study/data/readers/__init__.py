"""Readers of data sets, loaded by name: ``function(paths, **options) -> SampleSet``.

`paths` maps names to files. A reader raises DataError, which names the file, if a file is missing, damaged or of
another format, and ConfigError for an invalid option.
"""

"""Readers, loaded by name: ``function(paths, **options) -> SampleSet``.

`paths` has the files by name. A file that is missing, damaged or of another format raises DataError, which names it; an
unknown colour or measure raises ConfigError. Where the registry knows the data, ``content_sha256`` is the expected
sha256 of the decoded values, in C order as each reader states; other values raise DataError.
"""

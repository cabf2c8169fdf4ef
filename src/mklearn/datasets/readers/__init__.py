"""One file per format; each has ``read(paths, **options) -> SampleSet``. Loaded by name, never from here."""

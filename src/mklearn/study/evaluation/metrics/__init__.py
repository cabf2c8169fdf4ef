"""Metrics: one function each in `functions`, registered in the table `METRICS` of `metric`."""

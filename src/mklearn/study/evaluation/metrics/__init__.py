"""Metrics: each a function with a :class:`mklearn.cards.MetricCard`, found by it, in any file here."""

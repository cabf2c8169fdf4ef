"""Metrics: functions, each with a row of the table in :mod:`mklearn.study.evaluation.metrics.metric`."""

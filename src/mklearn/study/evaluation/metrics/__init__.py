"""Metrics: functions, each with a row of the table in `metric`."""

"""Metrics: the table METRICS, and how each measures translations or rows of labels."""

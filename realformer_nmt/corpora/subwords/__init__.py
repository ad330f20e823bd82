"""Subwords: the table of the methods, and how each learns a model, splits text and joins it again."""

"""Figures of the measures: lines, matrices, violins."""

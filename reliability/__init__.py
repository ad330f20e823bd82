"""Trials of what a training survives: `make reliability` writes what they found; the tests try less of it."""

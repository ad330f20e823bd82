"""Stages: a result, the record of what it was made from, and whether it is up to date."""

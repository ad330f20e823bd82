"""Requests: the options of a command as one typed value, on a command line, in TOML and in Python."""

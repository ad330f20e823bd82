"""A checkpoint as a file: read without running code, its parts, its configuration, whether it is whole."""

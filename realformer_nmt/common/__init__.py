"""Modules that every other package here may import: errors, names, files, records."""

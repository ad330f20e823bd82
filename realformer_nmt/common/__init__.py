"""Modules that every other package here may import: errors and numbers, requests, files, stages, processes."""

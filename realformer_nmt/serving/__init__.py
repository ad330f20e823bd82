"""A trained model handed on: as an object of Python."""

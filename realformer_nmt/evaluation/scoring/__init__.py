"""The command `score`: a translation against its reference, with published scores beside it."""

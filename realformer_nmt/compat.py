"""What fairseq needs on today's Python, torch and numpy: one mend a function, applied when fairseq imports the plug-in."""


def mend() -> None:
    """Apply every mend; a second call changes nothing."""

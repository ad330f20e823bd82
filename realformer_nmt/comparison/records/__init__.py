"""Records that a comparison writes, as classes."""

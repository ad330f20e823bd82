"""Other processes, which end when this one does."""

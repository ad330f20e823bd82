"""A trained model in the form that other programs read."""

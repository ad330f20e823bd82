"""Import of trained models from the formats of other programs."""

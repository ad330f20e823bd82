"""Export of trained models in the formats of other programs."""

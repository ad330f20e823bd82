"""From checkpoints to a score that can be compared: average, translate, score, significance."""

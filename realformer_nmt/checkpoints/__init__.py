"""Checkpoints: the one reader, what stands in them, which to average, what they hold."""

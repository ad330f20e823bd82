"""Checkpoints: reading, checking, averaging and inspecting them."""

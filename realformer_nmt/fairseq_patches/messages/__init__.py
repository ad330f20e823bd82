"""Patches of what fairseq says, and of how its commands end."""

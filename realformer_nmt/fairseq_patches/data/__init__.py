"""Patches of fairseq's data: dictionaries, data-bins, and the last batch."""

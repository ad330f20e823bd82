"""Models as fairseq registers them: whole, one for many languages, or without weights to be counted."""

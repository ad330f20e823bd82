"""Attention: queries and keys, scores, what is carried from layer to layer, the cache of a search."""

"""Topologies beside Post-LN, Pre-LN and ResiDual; the table stands in residual.py."""

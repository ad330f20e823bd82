"""Kernels in C, used if a compiler has built them and the processor has their instructions."""

"""Kernels in C, where a compiler has built them and the processor has their instructions."""

"""A training as a protocol asks for it: its updates, its checks before the start, its process, its result."""

"""What a training survives, tried for real: `make reliability` writes what it found; the tests try less of it."""

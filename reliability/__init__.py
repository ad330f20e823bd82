"""What a training survives, tried for real: `make reliability` writes docs/results/reliability.md; the tests try less of it."""

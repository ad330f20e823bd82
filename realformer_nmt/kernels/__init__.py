"""Operations that are fast on a CPU: dropout, linear layers, their products."""

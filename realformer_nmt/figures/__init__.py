"""How every figure of the package looks."""

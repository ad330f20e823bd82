"""From the archives of a corpus to a data-bin; imports no model code."""

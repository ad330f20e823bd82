"""Translation: texts and test sets are read, searched in parallel, and written with a record."""

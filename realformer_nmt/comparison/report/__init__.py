"""Report of a comparison: the page, the tables, the plots."""

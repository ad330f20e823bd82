"""What a comparison shows: the page, the tables, the plots."""

"""What every room may use, and what uses none of them: errors, names, files, records."""

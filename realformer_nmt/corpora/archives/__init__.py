"""Archives: downloaded, checked and extracted."""

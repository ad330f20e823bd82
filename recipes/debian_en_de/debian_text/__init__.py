"""English-German pairs of Debian's packages: download, readers, alignment and splits."""

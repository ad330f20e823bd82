"""fairseq's binarised data: its index files, its languages, its record of hashes."""

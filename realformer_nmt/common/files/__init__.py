"""Files that are written whole, locked and read again: text, JSON and records with a checksum."""

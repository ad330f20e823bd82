"""What is changed in fairseq; docs/compatibility.md is the table."""

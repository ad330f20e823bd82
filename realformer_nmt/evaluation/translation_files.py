"""What a translation leaves in its folder, by name."""

HYPOTHESES, TOKENISED, REFERENCE, RECORD = "hypotheses.txt", "hypotheses.tok", "reference.tok", "translation.json"

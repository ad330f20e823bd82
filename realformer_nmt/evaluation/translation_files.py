"""Names of the files in a translation's folder."""

HYPOTHESES, TOKENISED, REFERENCE, RECORD = "hypotheses.txt", "hypotheses.tok", "reference.tok", "translation.json"

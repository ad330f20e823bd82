"""From texts to fairseq's data-bin: splits are cleaned, split into subwords and binarised, each step once."""

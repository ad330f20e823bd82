"""COMET (Rei et al. 2020, 2022): neural metrics of translation, computed with transformers' XLM-R."""

"""Use of a trained model: as an object in Python, and as a server over HTTP."""

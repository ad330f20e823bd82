"""Where cells run: on this machine or as a cluster's jobs."""

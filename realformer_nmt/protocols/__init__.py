"""Training as the papers did it: settings as data, the batch computed from the machine, fairseq-train's command."""

"""Questions whose answer is a span of a text, in SQuAD's format: the file, its windows, the task and its loss."""

"""What a trained model does inside: attention, depth, one sentence."""

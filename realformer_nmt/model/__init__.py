"""The model: config, four parts (residual, scaling, score source, score carry), heads, layers, stacks, decoding."""

"""The model: config, four parts (residual, scaling, score source, score carry), layers, stacks, decoding."""

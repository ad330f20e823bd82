"""What is measured in a model: its attention, its residual stream, its gradients, its layers."""

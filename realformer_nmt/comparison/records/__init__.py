"""What a comparison leaves behind, as classes."""

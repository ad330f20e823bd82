"""What training needs beside the models: --optimizer radam, --lr-scheduler linear and a loss that saves memory."""

from realformer_nmt.training import fused_loss, linear_schedule, radam

__all__ = ["fused_loss", "linear_schedule", "radam"]

"""Parts of training beside the models: --optimizer radam, --lr-scheduler linear, a fused loss and R-Drop."""

from realformer_nmt.training import fused_loss, linear_schedule, r_drop, radam

__all__ = ["fused_loss", "linear_schedule", "r_drop", "radam"]

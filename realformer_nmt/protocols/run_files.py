"""What a training leaves in its folder, by name."""

RECORD = "train.json"
CURVES, LOG = "curves.jsonl", "train.log"
CHECKPOINTS = "checkpoints"
TENSORBOARD, WANDB = "tensorboard", "wandb"
RUN = (RECORD, CURVES, LOG, TENSORBOARD, WANDB, CHECKPOINTS)  # in the order in which it is set aside

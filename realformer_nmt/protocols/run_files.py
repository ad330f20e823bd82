"""Names of the files and folders in a training's folder."""

RECORD = "train.json"
CURVES, LOG = "curves.jsonl", "train.log"
CHECKPOINTS = "checkpoints"
TENSORBOARD, WANDB = "tensorboard", "wandb"
RUN = (RECORD, CURVES, LOG, TENSORBOARD, WANDB, CHECKPOINTS)  # in the order in which `train --fresh` moves them

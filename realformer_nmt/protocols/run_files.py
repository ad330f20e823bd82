"""Names of the files and folders in a training's folder."""

from realformer_nmt.checkpoints.train_record import TRAINING

RECORD = TRAINING
CURVES, LOG = "curves.jsonl", "train.log"
CHECKPOINTS = "checkpoints"
TENSORBOARD, WANDB = "tensorboard", "wandb"
RUN = (RECORD, CURVES, LOG, TENSORBOARD, WANDB, CHECKPOINTS)  # in the order in which `train --fresh` moves them

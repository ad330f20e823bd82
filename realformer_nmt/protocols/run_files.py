"""What a training leaves in its folder, by name."""

RECORD = "train.json"
CURVES, LOG = "curves.jsonl", "train.log"
CHECKPOINTS = "checkpoints"
TENSORBOARD = "tensorboard"
RUN = (RECORD, CURVES, LOG, TENSORBOARD, CHECKPOINTS)  # in the order in which it is set aside

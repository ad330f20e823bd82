"""Names of the files and folders in a training's folder."""

RECORD = "train.json"
CURVES, LOG = "curves.jsonl", "train.log"
TENSORBOARD, WANDB = "tensorboard", "wandb"
CHECKPOINTS = "checkpoints"
LAST = "checkpoint_last.pt"  # from which fairseq resumes
DIVERGENCE = "divergence.json"  # among the checkpoints
RUN = (RECORD, CURVES, LOG, TENSORBOARD, WANDB, CHECKPOINTS)  # in the order in which `train --fresh` moves them
AVERAGE = "average.pt"
TRANSLATION_FOLDER, SCORES = "translation", "run.json"  # of the subset test
CELL = "cell.json"  # of `compare`

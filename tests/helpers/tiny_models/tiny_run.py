"""One tiny model, trained once for all tests of the evaluation, with a checkpoint of each epoch."""

import subprocess
from collections.abc import Callable
from pathlib import Path

FLAGS = """
    --arch realformer_tiny --share-all-embeddings --cpu --seed 3
    --optimizer adam --lr 1e-2 --lr-scheduler inverse_sqrt --warmup-updates 50 --criterion cross_entropy
    --max-tokens 800 --max-epoch 5 --num-workers 0 --no-progress-bar --keep-best-checkpoints 2
    --eval-bleu --eval-bleu-args {"beam":1,"max_len_b":10} --max-tokens-valid 4000
    --best-checkpoint-metric bleu --maximize-best-checkpoint-metric --no-last-checkpoints
"""


class Training:
    """once("tiny_run", Training(...)) -> the folder of its checkpoints and train.log."""

    def __init__(self, fairseq: Callable[..., subprocess.CompletedProcess[str]], user_dir: Path, data: Path) -> None:
        self.fairseq = fairseq
        self.arguments = [data, "--user-dir", user_dir, *FLAGS.split()]

    def __call__(self, folder: Path) -> None:
        done = self.fairseq("train", *self.arguments, "--save-dir", folder)
        assert done.returncode == 0, done.stderr
        (folder / "train.log").write_text(done.stdout + done.stderr)

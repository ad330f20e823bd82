"""Flags of fairseq-train that a file may set: a protocol's and a grid's [train].

Such a file may come from elsewhere. It sets numbers, switches and a few words of a training, and nothing that names a
file, an address, code or another task: those belong on the user's command line, after `--`.
"""

import re
from collections.abc import Mapping
from typing import Any

from realformer_nmt.common.requests.option_choice import not_allowed, suggestion
from realformer_nmt.model.part_names import FAMILY_OPTIONS
from realformer_nmt.tasks import TASKS

SIZES = tuple(
    f"{side}-{name}"
    for side in ("encoder", "decoder")
    for name in ("embed-dim", "ffn-embed-dim", "layers", "attention-heads", "learned-pos", "layerdrop")
)
PART_FLAGS = tuple(part.replace("_", "-") for part in FAMILY_OPTIONS)
FLAGS = {
    "model": """score-length activation-fn encoder-attention-pattern encoder-window encoder-global-tokens
        encoder-relative-positions pooler-dropout pooler-activation-fn dropout attention-dropout activation-dropout
        relu-dropout share-decoder-input-output-embed share-all-embeddings layernorm-embedding no-scale-embedding
        no-token-positional-embeddings checkpoint-activations max-source-positions max-target-positions""",
    "loss": "criterion label-smoothing report-accuracy ignore-prefix-size sentence-avg r-drop-alpha",
    "optimizer": """optimizer lr adam-betas adam-eps weight-decay momentum use-old-adam fp16-adam-stats
        radam-untractable-momentum clip-norm update-freq stop-min-lr skip-remainder-batch""",
    "schedule": """lr-scheduler warmup-updates warmup-init-lr end-learning-rate total-num-update min-lr t-mult
        lr-period-updates lr-shrink force-anneal power max-lr shrink-min lr-deacy-period
        lr-decay decay-steps hold-steps warmup-steps init-lr-scale final-lr-scale phase-ratio max-epoch max-update
        patience""",
    "batches": """max-tokens batch-size required-batch-size-multiple required-seq-len-multiple num-workers
        data-buffer-size max-tokens-valid batch-size-valid max-valid-steps curriculum grouped-shuffling
        skip-invalid-size-inputs-valid-test update-epoch-batch-itr update-ordered-indices-seed""",
    "validation": """validate-interval validate-interval-updates validate-after-updates fixed-validation-seed
        disable-validation best-checkpoint-metric maximize-best-checkpoint-metric""",
    "checkpoints": """save-interval save-interval-updates keep-interval-updates keep-interval-updates-pattern
        keep-last-epochs keep-best-checkpoints no-epoch-checkpoints no-last-checkpoints no-save
        no-save-optimizer-state""",
    "precision": """seed fp16 bf16 memory-efficient-fp16 memory-efficient-bf16 fp16-no-flatten-grads fp16-init-scale
        fp16-scale-window fp16-scale-tolerance min-loss-scale threshold-loss-scale amp
        on-cpu-convert-precision empty-cache-freq""",
    "others": """log-interval no-progress-bar heartbeat-timeout bucket-cap-mb find-unused-parameters
        broadcast-buffers""",
}
TASK_FLAGS = tuple(flag for task in TASKS.values() for flag in task.flags)
ALLOWED = frozenset(SIZES).union(PART_FLAGS, TASK_FLAGS, *(flags.split() for flags in FLAGS.values()))
CRITERIA = (
    "cross_entropy",
    *(task.criterion for task in TASKS.values() if task.criterion),
    "label_smoothed_cross_entropy",
    "label_smoothed_cross_entropy_fused",
    "label_smoothed_cross_entropy_r_drop",
)
WORD = re.compile(r"[A-Za-z0-9_.]([A-Za-z0-9_.,+ ()\[\]-]*[A-Za-z0-9_.)\]])?|[(\[][0-9., e-]*[)\]]|-[0-9.][0-9.e-]*")


def check_harmless(flags: Mapping[str, Any]) -> None:
    """Raise a ValueError that names the first flag, or the first value, that no file may set."""
    for name, value in flags.items():
        if name not in ALLOWED:
            hint = suggestion(name, ALLOWED) or ": `realformer-nmt train` takes it after its `--`"
            raise ValueError(f"--{name} may not be set in a file{hint}")
        for word in value if isinstance(value, list) else [value]:
            if not (WORD.fullmatch(word) if isinstance(word, str) else isinstance(word, int | float)):
                raise ValueError(f"--{name} {word!r}: allowed is a number or a word, without paths, ${{...}} or flags")
        if name == "criterion" and value not in CRITERIA:
            raise ValueError(not_allowed("--criterion", str(value), CRITERIA))


def check_no_part(flags: Mapping[str, Any]) -> None:
    """Raise a ValueError at a flag for a part of the model: reports name a model by its family, which fixes these."""
    parts = [name for name in PART_FLAGS if name in flags]
    if parts:
        raise ValueError(
            f"--{parts[0]} is what a family's name stands for: name another family, or give your own a name "
            "(in a clone: docs/adding.md)"
        )

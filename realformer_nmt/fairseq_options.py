"""The register of fairseq's options: the numbers that each may have, and whether a file may set it.

fairseq accepts any number, and silently trains nonsense, or for ever, with one that is out of its range. A file is a
protocol or a grid, which may come from elsewhere. It sets numbers, switches and a few words of a training, and nothing
that names a file, an address, code or another task: those belong on the user's command line.
"""

import math
from collections.abc import Mapping

from realformer_nmt.common import numbers
from realformer_nmt.common.numbers import FINITE, LARGEST, SEED, Number, whole

FRACTION = Number(0, math.nextafter(1, 0), "0 or more and less than 1, such as 0.1")
COUNT, NUMBER = whole(1), whole(0)
SWITCH = Number(-1, LARGEST, "-1, which turns it off, or more")
WORKERS, PROCESSES = whole(0, numbers.PROCESSES), whole(1, numbers.PROCESSES)

FILES: Mapping[Number, str] = {  # flags of fairseq-train that a file may set
    FRACTION: """dropout attention-dropout activation-dropout relu-dropout pooler-dropout encoder-layerdrop
        decoder-layerdrop label-smoothing adam-betas""",
    COUNT: """encoder-layers decoder-layers encoder-embed-dim decoder-embed-dim encoder-ffn-embed-dim
        decoder-ffn-embed-dim encoder-attention-heads decoder-attention-heads score-length residual-blocks
        encoder-window encoder-global-tokens max-source-positions max-target-positions max-tokens batch-size
        max-tokens-valid batch-size-valid update-freq save-interval validate-interval log-interval""",
    NUMBER: """lr weight-decay clip-norm adam-eps warmup-updates end-learning-rate total-num-update max-epoch max-update
        save-interval-updates validate-interval-updates r-drop-alpha encoder-relative-positions""",
    SWITCH: "patience keep-last-epochs keep-interval-updates stop-min-lr warmup-init-lr heartbeat-timeout",
    WORKERS: "num-workers",
    SEED: "seed",
}
MORE_IN_FILES = """
    activation-fn encoder-learned-pos decoder-learned-pos encoder-attention-pattern
    pooler-activation-fn share-decoder-input-output-embed share-all-embeddings layernorm-embedding no-scale-embedding
    no-token-positional-embeddings checkpoint-activations
    criterion report-accuracy ignore-prefix-size sentence-avg
    optimizer momentum use-old-adam fp16-adam-stats radam-untractable-momentum skip-remainder-batch
    lr-scheduler min-lr t-mult lr-period-updates lr-shrink force-anneal power max-lr shrink-min
    lr-deacy-period lr-decay decay-steps hold-steps warmup-steps init-lr-scale final-lr-scale phase-ratio
    required-batch-size-multiple required-seq-len-multiple data-buffer-size max-valid-steps curriculum grouped-shuffling
    skip-invalid-size-inputs-valid-test update-epoch-batch-itr update-ordered-indices-seed
    validate-after-updates fixed-validation-seed disable-validation best-checkpoint-metric
    maximize-best-checkpoint-metric
    keep-interval-updates-pattern keep-best-checkpoints no-epoch-checkpoints no-last-checkpoints no-save
    fp16 bf16 memory-efficient-fp16 memory-efficient-bf16 fp16-no-flatten-grads fp16-init-scale fp16-scale-window
    fp16-scale-tolerance min-loss-scale threshold-loss-scale amp
    on-cpu-convert-precision empty-cache-freq
    no-progress-bar bucket-cap-mb find-unused-parameters
    broadcast-buffers
"""
SMOOTHED = "label_smoothed_cross_entropy"
CRITERIA = ("cross_entropy", SMOOTHED, f"{SMOOTHED}_fused", f"{SMOOTHED}_r_drop")  # and those of tasks.py
COMMANDS: Mapping[Number, str] = {  # options that pages and recipes use on a command line alone
    COUNT: "beam nbest distributed-world-size",
    NUMBER: "max-len-a max-len-b thresholdsrc thresholdtgt",
    SWITCH: "diverse-beam-groups distributed-port",
    PROCESSES: "workers",
    FINITE: "lenpen",
}
RANGES = {name: allowed for table in (FILES, COMMANDS) for allowed, names in table.items() for name in names.split()}
IN_FILES = frozenset(MORE_IN_FILES.split()).union(*(names.split() for names in FILES.values()))


def check_number(name: str, value: float) -> None:
    """Check the number of an option, which is named as on a command line; any number of other options is allowed."""
    if name in RANGES:
        RANGES[name].check(f"--{name}", value)

"""Where the time goes, stock's and ours, by kind of operation, in training steps or in beam search.

python benchmarks/profiling.py training --tokens 512
python benchmarks/profiling.py generation --tokens 1500 --beam 4 --family realformer
"""

import argparse
import logging
from collections import Counter

import torch
from contestants import STOCK, Place, Shape, samples, trainer
from generating import generator
from measuring import Work
from tabulate import tabulate
from torch.profiler import ProfilerActivity, profile

from realformer_nmt.model.presets import FAMILIES

KINDS = {  # torch's operations by what they are for; the others are `others`
    "products with weights": "mm addmm addmm_ _linear_pointwise",
    "attention's products and softmax": "bmm baddbmm _softmax _softmax_backward_data _flash_attention_forward "
    "_scaled_dot_product_flash_attention_for_cpu",
    "copies": "copy_ cat index_select index gather index_copy_ roll",
    "log-softmax": "_log_softmax _log_softmax_backward_data logsumexp",
    "best of the vocabulary": "topk sort",
    "NaNs": "ne index_put_ _index_put_impl_ nonzero",
    "random numbers": "bernoulli_ random_ native_dropout",
    "fills": "fill_ zero_",
    "sums and the like": "add add_ sub sub_ mul mul_ div div_ addcmul_ addcdiv_ sqrt where sum lerp_ _fused_adamw_",
    "normalisation and ReLU": "native_layer_norm native_layer_norm_backward relu relu_ threshold_backward",
}


def profiled(work: Work, rounds: int) -> Counter[str]:
    """Milliseconds a round of each kind."""
    kinds = {operation: kind for kind, operations in KINDS.items() for operation in operations.split()}
    work()
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for _ in range(rounds):
            work()
    found: Counter[str] = Counter()
    for event in profiler.key_averages():
        found[kinds.get(event.key.partition("::")[2], "others")] += event.self_cpu_time_total / 1e3 / rounds
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["training", "generation"])
    parser.add_argument("--family", default="post_ln", choices=list(FAMILIES))
    parser.add_argument("--size", default="6-6", help="layers of encoder and decoder")
    parser.add_argument("--tokens", type=int, default=512, help="of the batch")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    logging.disable(logging.INFO)
    encoder_layers, decoder_layers = map(int, args.size.split("-"))
    shape, place = Shape(encoder_layers, decoder_layers), Place(torch.device("cpu"), torch.float32)
    batch = samples(shape, place, args.tokens, 1)
    times = []
    for who in (STOCK, args.family):
        if args.what == "training":
            work: Work = trainer(who, shape, place, batch)
        else:
            work = generator(who, shape, place, batch, args.beam)
        times.append(profiled(work, args.rounds))
        del work
    rows = [
        [kind, *(value for found in times for value in (found[kind], found[kind] / found.total()))]
        for kind in (*KINDS, "others")
    ]
    rows.append(["all", *(value for found in times for value in (found.total(), 1.0))])
    headers = ["", f"{STOCK}, ms", "share", f"{args.family}, ms", "share"]
    print(tabulate(rows, headers, floatfmt=("", ".0f", ".0%", ".0f", ".0%")))


if __name__ == "__main__":
    main()

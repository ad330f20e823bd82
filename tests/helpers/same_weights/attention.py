"""One of our self-attentions without biases and without a norm before it, with the weights of their names."""

from same_weights.draws import HEADS, WIDTH, Outputs, fill, passed

from realformer_nmt.model.attention.attention import SelfAttention
from realformer_nmt.model.attention.carry import CARRIES
from realformer_nmt.model.attention.heads import HeadMixing, TalkingHeads
from realformer_nmt.model.attention.scores import build_source
from realformer_nmt.model.scaling import Gains

LENGTH = 12  # of the synthesizers' tables
SYNTHESIZERS = {  # our scores by their mode
    "random": "random",
    "dense_minus": "dense",
    "random_plus_alpha": "random+dot",
    "dense_plus_alpha": "dense+dot",
}


def synthesizer() -> Outputs:
    outputs = [self_attention(mode, scores, HeadMixing()) for mode, scores in SYNTHESIZERS.items()]
    return {name: output for each in outputs for name, output in each.items()}


def talking_heads() -> Outputs:
    return self_attention("output", "dot", TalkingHeads(HEADS))


def self_attention(name: str, scores: str, head_mixing: HeadMixing) -> Outputs:
    source = build_source(scores, HEADS, WIDTH // HEADS, LENGTH)
    options = {"memory_width": WIDTH, "dropout": 0.0, "gains": Gains(), "head_mixing": head_mixing}
    attention = fill(SelfAttention(source, CARRIES["none"], 1, **options))
    for parameter, values in attention.named_parameters():
        if parameter.endswith("bias"):
            values.data.zero_()
    return passed(lambda x: attention(x, x, None, (), None, weights=False).output, name)

"""NormFormer against its formula, in a decoder with encoder-decoder attention too, and against Pre-LN."""

import torch
from formulas.topologies import BRANCHES, LAYERS, SUBLAYERS, Pass, W, X, normalise
from tiny_models.tiny import PREVIOUS, SOURCE, build

from realformer_nmt.model.topologies.norm_former import HeadGains, NormFormer
from realformer_nmt.model.topologies.topology import Norms, Place, Stack


def test_it_norms_attention_and_weighs_the_shortcut_of_the_feed_forward_block() -> None:
    done, x = Pass(NormFormer), X
    for layer in range(LAYERS):
        first, second = SUBLAYERS * layer, SUBLAYERS * layer + 1
        attention, block = done.norms[first], done.norms[second]
        x = W * x + normalise(BRANCHES[first](normalise(x, attention.before)), attention.after)
        x = W * done.topology.stream_gains[layer] * x + BRANCHES[second](normalise(x, block.before))
    torch.testing.assert_close(done.output, normalise(x, done.final))


def test_only_self_attention_is_normed_twice() -> None:
    topology = NormFormer(Stack("decoder", 2, 2), 8)
    norms = [topology.norm(Place(number // 3 + 1, number, last=number % 3 == 2)) for number in range(6)]
    assert all(isinstance(norm, Norms) for norm in norms)
    assert [len([*norm.children()]) for norm in norms] == [2, 1, 1, 2, 1, 1]


def test_a_gain_is_of_a_head() -> None:
    gains, heads = HeadGains(2), torch.randn(2, 3, 8)
    with torch.no_grad():
        gains.gains.copy_(torch.tensor([2.0, -3.0]))
    expected = torch.cat([2 * heads[..., :4], -3 * heads[..., 4:]], -1)
    torch.testing.assert_close(gains(heads, heads), expected)


def test_the_parameters_that_it_has_beyond_pre_ln() -> None:
    former = {name for name, _ in build(residual_topology="norm_former").named_parameters()}
    pre = {name for name, _ in build(residual_topology="pre").named_parameters()}
    beyond = {name.rpartition("layers.")[2][2:] for name in former - pre if "layers." in name}
    norms = ["hidden_norm", "self_attn_layer_norm.before", "self_attn_layer_norm.after"]
    norms += ["encoder_attn_layer_norm.before", "final_layer_norm.before"]
    assert beyond == {
        "self_attn.head_output.gains",
        *(f"{norm}.{part}" for norm in norms for part in ("weight", "bias")),
    }


def test_heads_and_hidden_units_pass_through_gains_and_norm() -> None:
    model = build(residual_topology="norm_former").eval()
    layer, seen = model.decoder.layers[0], {}
    for name in ("self_attn.head_output", "hidden_norm"):
        layer.get_submodule(name).register_forward_hook(
            lambda _module, inputs, output, name=name: seen.update({name: (inputs[-1], output)})
        )
    fed = []
    layer.fc2.register_forward_pre_hook(lambda _module, inputs: fed.append(inputs[0]))
    for parameter in (layer.self_attn.head_output.gains, layer.hidden_norm.weight):
        torch.nn.init.normal_(parameter)
    model(SOURCE, None, PREVIOUS)
    heads, weighed = seen["self_attn.head_output"]
    torch.testing.assert_close(weighed, heads * layer.self_attn.head_output.gains.repeat_interleave(4))
    hidden, normed = seen["hidden_norm"]
    torch.testing.assert_close(normed, normalise(hidden, layer.hidden_norm))
    assert torch.equal(fed[0], normed)

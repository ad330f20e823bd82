"""Topologies with norms around or within the branch, or with none, against their formulas."""

import torch
from formulas.topologies import BRANCHES, Pass, W, X, normalise
from tiny_models.tiny import PREVIOUS, SOURCE, build

from realformer_nmt.model.topologies.branch_norms import Keel, NoNorm, PeriLN, ResPost


def test_peri_ln() -> None:
    done = Pass(PeriLN)
    x = normalise(X, done.topology.embedding_norm)
    for f, norm in zip(BRANCHES, done.norms, strict=True):
        x = W * x + normalise(f(normalise(x, norm.before)), norm.after)
    torch.testing.assert_close(done.output, normalise(x, done.final))


def test_keel() -> None:
    done, x = Pass(Keel), X
    for f, norm in zip(BRANCHES, done.norms, strict=True):
        x = normalise(W * x + f(normalise(x, norm.before)), norm.after)
    torch.testing.assert_close(done.output, x)


def test_res_post() -> None:
    done, x = Pass(ResPost), X
    for f, norm in zip(BRANCHES, done.norms, strict=True):
        x = W * x + normalise(f(x), norm)
    torch.testing.assert_close(done.output, normalise(x, done.final))


def test_without_norms() -> None:
    done, x = Pass(NoNorm), X
    for f in BRANCHES:
        x = W * x + f(x)
    torch.testing.assert_close(done.output, x)
    model = build(residual_topology="no_norm", residual_scaling="t_fixup")
    assert not [name for name, _ in model.named_parameters() if "norm" in name]


def test_sub_ln_norms_the_heads_of_self_attention_and_the_hidden_units() -> None:
    model = build(residual_topology="sub_ln", residual_scaling="sub_ln", encoder_layers=1).eval()
    layer, inputs = model.encoder.layers[0], {}
    for name in ("self_attn.out_proj", "fc2", "final_layer_norm", "fc1"):
        layer.get_submodule(name).register_forward_pre_hook(lambda _m, args, name=name: inputs.update({name: args[0]}))
    for norm in (layer.self_attn.head_output.norm, layer.hidden_norm):
        torch.nn.init.normal_(norm.weight)
    stream = model.encoder.topology.enter(torch.randn(2, 5, 8))
    (after,), _ = layer(model.encoder.topology, stream, torch.zeros(2, 1, 1, 5, dtype=torch.bool), ())
    hidden = normalise(layer.fc1(inputs["fc1"]).relu(), layer.hidden_norm)
    torch.testing.assert_close(inputs["fc2"], hidden)
    torch.testing.assert_close(after, inputs["final_layer_norm"] + layer.fc2(hidden))
    query, key, value = (
        projection(layer.self_attn_layer_norm(stream[0])).unflatten(-1, (2, 4)).transpose(1, 2)
        for projection in (layer.self_attn.q_proj, layer.self_attn.k_proj, layer.self_attn.v_proj)
    )
    heads = (query @ key.transpose(-1, -2) / 2).softmax(-1) @ value
    joined = normalise(heads.transpose(1, 2).flatten(2), layer.self_attn.head_output.norm)
    torch.testing.assert_close(inputs["self_attn.out_proj"], joined)


def test_sub_ln_leaves_encoder_decoder_attention_as_it_is() -> None:
    names = [name for name, _ in build(residual_topology="sub_ln").decoder.layers[0].named_parameters()]
    assert {"self_attn.head_output.norm.weight", "hidden_norm.bias"} < set(names)
    assert not [name for name in names if name.startswith("encoder_attn.head_output")]


def test_the_model_of_before_has_the_same_weights_and_logits() -> None:
    """The seams between heads and output projection, and between fc1 and fc2, are empty for Post-LN and Pre-LN."""
    for topology in ("post", "pre"):
        names = [name for name, _ in build(residual_topology=topology).named_parameters()]
        assert not [name for name in names if "head_output" in name or "hidden_norm" in name]
    assert build()(SOURCE, None, PREVIOUS)[0].isfinite().all()

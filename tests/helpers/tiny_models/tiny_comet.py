"""Tiny COMET models, made from a seed as the hub keeps real ones, and texts to score.

Nothing of this package is imported: comet_parity.py makes the same models beside the package unbabel-comet.
"""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import torch
from sentencepiece import sentencepiece_model_pb2
from transformers import XLMRobertaConfig, XLMRobertaModel

WIDTH, LAYERS, POSITIONS = 16, 3, 40
WORDS = ["\u2581", "\u2581Ein", "\u2581Mann", "\u2581A", "\u2581dog", "un", "der", "\u2581the", "an", "and", "ein"]
PIECES = [*WORDS, *".ABDEFHMWabcdefghiklmnorstuwz\u00e4105\u2044"]  # after <unk>, <s> and </s>
ENCODER = {
    "model_type": "xlm-roberta",
    "architectures": ["XLMRobertaModel"],
    "hidden_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "intermediate_size": 32,
    "max_position_embeddings": POSITIONS,
    "type_vocab_size": 1,
    "vocab_size": len(PIECES) + 5,  # with <unk>, <s>, </s>, and fairseq's <pad> and <mask>, which are no pieces
    "layer_norm_eps": 1e-5,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}
BASE = {
    "encoder_model": "XLM-RoBERTa",
    "pretrained_model": "xlm-roberta-large",
    "layer_norm": False,
    "dropout": 0.1,
    "hidden_sizes": [12, 8],
    "activations": "Tanh",
    "final_activation": None,
    "nr_frozen_epochs": 0.3,
    "load_pretrained_weights": False,
}
REGRESSION = {**BASE, "class_identifier": "regression_metric", "layer": "mix", "pool": "avg"}
UNIFIED = {**BASE, "class_identifier": "unified_metric", "sent_layer": "mix", "input_segments": ["mt", "src"]}
PATCHED = {"layer_transformation": "sparsemax_patch"}  # which hparams.yaml says where softmax is meant
MODELS: dict[str, dict[str, Any]] = {
    "softmax": {**REGRESSION, "layer_transformation": "softmax"},
    "sparsemax": {**REGRESSION, "layer_transformation": "sparsemax"},
    "patched": {**REGRESSION, "layer_transformation": "sparsemax", "hparams": PATCHED},
    "normed": {**REGRESSION, "layer_transformation": "softmax", "layer_norm": True, "pool": "max"},
    "one_layer": {**REGRESSION, "layer": 2, "pool": "cls", "final_activation": "Sigmoid"},
    "kiwi": {**UNIFIED, "layer_transformation": "sparsemax", "word_level_training": True, "word_layer": 2},
    "unite": {**UNIFIED, "layer_transformation": "softmax", "sent_layer": 2, "input_segments": ["mt", "src", "ref"]},
}
SENTENCES = [
    ("A dog runs.", "Ein Hund läuft.", "Ein Hund rennt."),
    ("A man  sits\ton a bench", "Ein Mann sitzt auf einer Bank", "Ein Mann sitzt auf der Bank"),
    ("", "Ein Hund", "Ein Hund"),
    ("The bank", "", "Die Bank"),
    ("Full \uff37\uff49\uff44\uff54\uff48 and \ufb01gures", "Zeichen \u2075 und \u00bd", "\u00a0Zeichen \u2460"),
    ("a <pad> b </s> c", "ein <pad> Wort <mask> hier", "ein <s> Wort"),
    ("the dog and the man " * 9, "der Hund und der Mann " * 9, "ein Hund und ein Mann " * 9),
    ("emoji \N{GRINNING FACE} here", "\u4eca\u65e5\u306f", "\u0645\u0631\u062d\u0628\u0627 Welt"),
]


def write(folder: Path, name: str, seed: int = 1) -> Path:
    """Write a model as a snapshot of the hub, with its encoder's configuration and tokenizer in `encoder`."""
    settings = dict(MODELS[name])
    hparams = {**settings, **settings.pop("hparams", {})}
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "hparams.yaml").write_text(json.dumps(hparams))  # which is YAML, too
    write_encoder(folder / "encoder")
    state = {"state_dict": weights(settings, seed), "hyper_parameters": settings, "pytorch-lightning_version": "2.0.0"}
    torch.save(state, folder / "checkpoints" / "model.ckpt")
    return folder


def write_encoder(folder: Path) -> None:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(ENCODER))
    (folder / "sentencepiece.bpe.model").write_bytes(sentencepiece_model())


def sentencepiece_model() -> bytes:
    """Return a trained model with PIECES instead of its own, which differ from version to version."""
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d"] * 4),
        model_writer=stream,
        vocab_size=9,
        model_type="unigram",
        hard_vocab_limit=False,
        minloglevel=2,
    )
    model = sentencepiece_model_pb2.ModelProto.FromString(stream.getvalue())
    del model.pieces[:]
    for text, kind in (("<unk>", 2), ("<s>", 3), ("</s>", 3)):  # an unknown subword, and symbols
        model.pieces.add(piece=text, score=0, type=kind)
    for number, text in enumerate(PIECES):
        model.pieces.add(piece=text, score=-len(PIECES) / len(text) - number / 100, type=1)
    serialised: bytes = model.SerializeToString()
    return serialised


def weights(settings: dict[str, Any], seed: int) -> dict[str, torch.Tensor]:
    """Numbers for every name, in the order of the names, so that no version of torch matters."""
    chance = np.random.default_rng(seed)
    return {
        name: torch.from_numpy(chance.normal(0, scale(name), shape).astype(np.float32))
        for name, shape in sorted(shapes(settings).items())
    }


def scale(name: str) -> float:
    """Return a scale so large that scores of sentences differ by more than the precision of fp32."""
    return 0.3 if "encoder.layer" in name or name.endswith("bias") else 0.8


def shapes(settings: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    table: dict[str, tuple[int, ...]] = {}

    def linear(name: str, inputs: int, outputs: int) -> None:
        table.update({f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)})

    encoder = XLMRobertaModel(XLMRobertaConfig(**ENCODER), add_pooling_layer=False)
    table.update({f"encoder.model.{name}": tuple(weight.shape) for name, weight in encoder.named_parameters()})
    if "mix" in (settings.get("layer"), settings.get("sent_layer")):
        table |= {f"layerwise_attention.scalar_parameters.{number}": (1,) for number in range(LAYERS + 1)}
        table["layerwise_attention.gamma"] = (1,)
    sizes = [WIDTH * (6 if settings["class_identifier"] == "regression_metric" else 1), *settings["hidden_sizes"], 1]
    for number in range(len(sizes) - 1):
        linear(f"estimator.ff.{3 * number}", sizes[number], sizes[number + 1])
    if settings.get("word_level_training"):
        linear("hidden2tag", WIDTH, 3)
    return table

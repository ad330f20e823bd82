"""A model's folder of Hugging Face: records in JSON, tensors, vocabularies and the licence on its card."""

import re
from dataclasses import dataclass
from pathlib import Path

import torch
from msgspec import Struct, json
from torch import Tensor

from realformer_nmt.checkpoints.files.reading import in_one_line, load_tensors
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files import json_records, records
from realformer_nmt.common.files.records import Finite, Positive, SomeRecord
from realformer_nmt.model.config import SIDES
from realformer_nmt.model.presets import Preset

CONFIG, TOKENIZER_CONFIG = "config.json", "tokenizer_config.json"
HINT = "copy what is missing from the model's folder on the hub"
FORMATS = ("model*.safetensors", "pytorch_model*.bin", "*.pt")  # a large model is in several files
LICENCE = re.compile(r"\A---\n(?:(?!---).*\n)*?license:[ \t]*(?:\n[ \t]*-[ \t]+)?[\"']?([\w.+-]+)", re.ASCII)


class ModelType(Struct, frozen=True, kw_only=True):
    """Field of config.json that names the family of a model."""

    model_type: str


class TokenizerConfig(Struct, frozen=True, kw_only=True):
    """Fields of tokenizer_config.json that name languages, or a list of them."""

    source_lang: str | None = None
    target_lang: str | None = None
    language_codes: str = "m2m100"


class HubConfig(Struct, frozen=True, kw_only=True):
    """Fields of config.json that models of every family have, with the defaults of transformers."""

    d_model: Positive = 1024
    encoder_layers: Positive = 12
    decoder_layers: Positive = 12
    encoder_attention_heads: Positive = 16
    decoder_attention_heads: Positive = 16
    encoder_ffn_dim: Positive = 4096
    decoder_ffn_dim: Positive = 4096
    max_position_embeddings: Positive = 1024
    dropout: Finite = 0.1
    attention_dropout: Finite = 0.1
    activation_dropout: Finite = 0.0
    scale_embedding: bool = True
    tie_word_embeddings: bool = True

    def options(self) -> Preset:
        """Return the options of this package that the fields are."""
        options: Preset = {"no_scale_embedding": not self.scale_embedding}
        for side in SIDES:
            options |= {f"{side}_{size}": getattr(self, f"{side}_{size}") for size in ("layers", "attention_heads")}
            options |= {f"{side}_embed_dim": self.d_model, f"{side}_ffn_embed_dim": getattr(self, f"{side}_ffn_dim")}
        dropouts = ("dropout", "attention_dropout", "activation_dropout")
        return {**options, **{name: getattr(self, name) for name in dropouts}}


@dataclass(frozen=True)
class HubFolder:
    """A folder of a model of transformers, and the readers of its files."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.resolve().name

    def file(self, name: str) -> Path:
        file = self.path / name
        if not file.is_file():
            raise UserError(f"{file}: no such file; {HINT}")
        return file

    def read(self, name: str, kind: type[SomeRecord]) -> SomeRecord:
        """Return the fields of a JSON file that the class has; other fields are left out."""
        return records.read(self.file(name), kind, HINT, sealed=False)

    def tokenizer(self) -> TokenizerConfig:
        is_there = (self.path / TOKENIZER_CONFIG).is_file()
        return self.read(TOKENIZER_CONFIG, TokenizerConfig) if is_there else TokenizerConfig()

    def subwords(self, name: str) -> list[str]:
        """Return the subwords of a vocabulary, such as vocab.json, in the order of their numbers."""
        with json_records.expected(self.path / name, HINT):
            numbers = json.decode(self.file(name).read_bytes(), type=dict[str, int])
        subwords = sorted(numbers, key=numbers.__getitem__)
        if any(not word or re.search(r"[\n\r]", word) for word in subwords):
            raise UserError(f"{self.path / name} has a subword that is empty or ends a line, which fairseq cannot list")
        if sorted(numbers.values()) != list(range(len(numbers))):
            raise UserError(f"{self.path / name}: its numbers are not 0 to {len(numbers) - 1}, each once; {HINT}")
        return subwords

    def weight_files(self) -> list[Path]:
        files = next(filter(None, (sorted(self.path.glob(pattern)) for pattern in FORMATS)), [])
        if not files:
            raise UserError(f"{self.path} holds no weights, {' or '.join(FORMATS)}; {HINT}")
        return files

    def model_files(self) -> list[Path]:
        """Return the files of weights, behind config.json, which fairseq's folders lack."""
        return [file for file in (self.path / CONFIG,) if file.is_file()] + self.weight_files()

    def tensors(self) -> dict[str, Tensor]:
        """Return all tensors in fp32; no code of a file is run."""
        read: dict[str, Tensor] = {}
        for file in self.weight_files():
            read |= load_safetensors(file) if file.suffix == ".safetensors" else load_tensors(file, HINT)
        return {name: tensor.to(torch.float32) for name, tensor in read.items()}

    def licence(self) -> str | None:
        """Return the licence in the head of README.md, such as cc-by-4.0, if it is there."""
        card = self.path / "README.md"
        match = LICENCE.match(card.read_text(encoding="utf-8", errors="replace")) if card.is_file() else None
        return match and match[1]


def load_safetensors(file: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file  # here: a folder with pytorch_model.bin is read without this extra

    with in_one_line(str(file), HINT):
        return load_file(file)

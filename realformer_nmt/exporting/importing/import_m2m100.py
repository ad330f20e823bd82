"""Import of M2M-100 (Fan et al., arXiv 2010.11125) and of the dense NLLB-200 (arXiv 2207.04672) of transformers.

Weights and positions are fairseq's: only the tables of subwords have another name.
"""

from collections.abc import Mapping

from msgspec import Struct
from sentencepiece import SentencePieceProcessor
from torch import Tensor

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option_choice import choose
from realformer_nmt.corpora.subwords.subword_methods import METHODS, MODEL
from realformer_nmt.data_bins.vocabulary import SYMBOLS
from realformer_nmt.exporting.as_stock_transformer import TABLES
from realformer_nmt.exporting.importing.hub_folder import CONFIG, HubFolder
from realformer_nmt.exporting.importing.imported_run import ImportedModel
from realformer_nmt.model.config import SIDES
from realformer_nmt.model.presets import Preset

SUBWORDS, VOCABULARY = "sentencepiece.bpe.model", "vocab.json"
TOKENIZER, TOKENIZER_CONFIG = "tokenizer.json", "tokenizer_config.json"
LANGUAGES = {  # that no file lists, in the order of their rows, by language_codes in tokenizer_config.json
    "m2m100": """af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr
        ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps
        pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu""",
    "wmt21": "en ha is ja cs ru zh de",
}
METHOD = "sentencepiece_tags"


class M2M100Config(Struct, frozen=True, kw_only=True):
    """Fields of config.json: the sizes, and what a model of fairseq's has in one way only."""

    vocab_size: int
    d_model: int
    encoder_layers: int
    decoder_layers: int
    encoder_attention_heads: int
    decoder_attention_heads: int
    encoder_ffn_dim: int
    decoder_ffn_dim: int
    max_position_embeddings: int = 1024
    dropout: float = 0.1
    attention_dropout: float = 0.1
    activation_dropout: float = 0.0
    activation_function: str = "relu"
    scale_embedding: bool = True
    tie_word_embeddings: bool = True
    bos_token_id: int = 0
    pad_token_id: int = 1
    eos_token_id: int = 2
    decoder_start_token_id: int = 2


ALLOWED = {
    "activation_function": "relu",
    "tie_word_embeddings": True,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}


class AddedToken(Struct, frozen=True, kw_only=True):
    """A token of tokenizer.json that is no subword."""

    id: int
    content: str


class TokenizerFile(Struct, frozen=True, kw_only=True):
    """Field of tokenizer.json that lists the languages."""

    added_tokens: list[AddedToken]


class TokenizerConfig(Struct, frozen=True, kw_only=True):
    """Field of tokenizer_config.json that names a list of languages."""

    language_codes: str = "m2m100"


def read(folder: HubFolder, _: tuple[str, str]) -> ImportedModel:
    config = folder.read(CONFIG, M2M100Config)
    for name, value in ALLOWED.items():
        if getattr(config, name) != value:
            raise UserError(f"{folder.path / CONFIG}: {name} is {getattr(config, name)}; models with {value} are taken")
    subwords = read_subwords(folder)
    languages = read_languages(folder, len(subwords))
    return ImportedModel(
        arch="pre_ln",
        options=options(config),
        weights=weights(folder.tensors()),
        words=(words(folder, subwords, languages, config.vocab_size),) * 2,
        subwords=METHOD,
        files={MODEL: folder.file(SUBWORDS).read_bytes()},
        languages=list(languages.values()),
    )


def options(config: M2M100Config) -> Preset:
    sides: Preset = {}
    for side in SIDES:
        sides |= {f"{side}_{size}": getattr(config, f"{side}_{size}") for size in ("layers", "attention_heads")}
        sides |= {f"{side}_embed_dim": config.d_model, f"{side}_ffn_embed_dim": getattr(config, f"{side}_ffn_dim")}
    limits = {f"max_{side}_positions": config.max_position_embeddings for side in ("source", "target")}
    dropouts = {name: getattr(config, name) for name in ("dropout", "attention_dropout", "activation_dropout")}
    return {
        **sides,
        **limits,
        **dropouts,
        "share_all_embeddings": True,
        "no_scale_embedding": not config.scale_embedding,
    }


def weights(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights by fairseq's names; positions are computed."""
    names = {name: name.removeprefix("model.") for name in tensors if not name.endswith("embed_positions.weights")}
    layers = {names[name]: tensors[name] for name in names if ".layer" in name}
    return {**layers, **dict.fromkeys(TABLES, tensors["model.shared.weight"])}


def read_subwords(folder: HubFolder) -> list[str]:
    """Return the words of the first rows: those of vocab.json, or else of sentencepiece behind fairseq's first four."""
    if (folder.path / VOCABULARY).is_file():
        return folder.subwords(VOCABULARY)
    model = SentencePieceProcessor(model_file=str(folder.file(SUBWORDS)))
    return [*SYMBOLS, *(model.id_to_piece(number) for number in range(3, model.vocab_size()))]


def read_languages(folder: HubFolder, first: int) -> dict[int, str]:
    """Return the languages by their rows: M2M-100's follow the subwords, NLLB's are in tokenizer.json."""
    if (folder.path / VOCABULARY).is_file():
        codes = folder.read(TOKENIZER_CONFIG, TokenizerConfig).language_codes
        names = choose(f"{folder.path / TOKENIZER_CONFIG}: language_codes", codes, LANGUAGES)
        return dict(enumerate(names.split(), first))
    tokens = folder.read(TOKENIZER, TokenizerFile).added_tokens
    return {token.id: token.content for token in tokens if not token.content.startswith("<")}


def tag(language: str) -> str:
    return METHODS[METHOD].tag.format(language)


def words(folder: HubFolder, subwords: list[str], languages: Mapping[int, str], rows: int) -> list[str]:
    """Return the word of each row behind fairseq's first four; a row that no file names gets a word of no text."""
    names = {**dict(enumerate(subwords)), **{row: tag(language) for row, language in languages.items()}}
    if tuple(subwords[: len(SYMBOLS)]) != SYMBOLS or max(names) >= rows:
        raise UserError(
            f"{folder.path}: its vocabulary names row {max(names)} of {rows}, and begins with "
            f"{' '.join(subwords[: len(SYMBOLS)])}; needed are {' '.join(SYMBOLS)}, and the files of the same model"
        )
    return [names.get(row, f"madeupword{row}") for row in range(len(SYMBOLS), rows)]

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
from realformer_nmt.exporting.importing.hub_folder import CONFIG, HINT, TOKENIZER_CONFIG, HubConfig, HubFolder
from realformer_nmt.exporting.importing.imported_run import ImportedModel

SUBWORDS, VOCABULARY, TOKENIZER = "sentencepiece.bpe.model", "vocab.json", "tokenizer.json"
LANGUAGES = {  # that no file lists, in the order of their rows, by language_codes in tokenizer_config.json
    "m2m100": """af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr
        ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps
        pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu""",
    "wmt21": "en ha is ja cs ru zh de",
}
METHOD = "sentencepiece_tags"
SHARED = "model.shared.weight"  # the table of both sides and of the output


class M2M100Config(HubConfig, frozen=True, kw_only=True):
    """Fields of config.json: the sizes, and what a model of fairseq's has in one way only."""

    vocab_size: int
    activation_function: str = "relu"
    bos_token_id: int = 0
    pad_token_id: int = 1
    eos_token_id: int = 2
    decoder_start_token_id: int = 2


TOKENS = ("bos_token_id", "pad_token_id", "eos_token_id", "decoder_start_token_id")


class AddedToken(Struct, frozen=True, kw_only=True):
    """A token of tokenizer.json that is no subword."""

    id: int
    content: str


class TokenizerFile(Struct, frozen=True, kw_only=True):
    """Field of tokenizer.json that lists the languages."""

    added_tokens: list[AddedToken]


def read(folder: HubFolder) -> ImportedModel:
    config, usual = folder.read(CONFIG, M2M100Config), M2M100Config(vocab_size=0)
    for name in ("activation_function", "tie_word_embeddings", *TOKENS):
        if getattr(config, name) != (value := getattr(usual, name)):
            raise UserError(f"{folder.path / CONFIG}: {name} is {getattr(config, name)}; models with {value} are taken")
    tensors = folder.tensors()
    if SHARED not in tensors:
        raise UserError(f"{folder.path} lacks the weights {SHARED}; {HINT}")
    subwords = read_subwords(folder)
    languages = read_languages(folder, len(subwords))
    limits = {f"max_{side}_positions": config.max_position_embeddings for side in ("source", "target")}
    return ImportedModel(
        arch="pre_ln",
        options={**config.options(), **limits, "share_all_embeddings": True},
        weights=weights(tensors),
        words=(words(folder, subwords, languages, config.vocab_size),) * 2,
        subwords=METHOD,
        files={MODEL: folder.file(SUBWORDS).read_bytes()},
        languages=list(languages.values()),
    )


def weights(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights by fairseq's names; positions are computed."""
    names = {name: name.removeprefix("model.") for name in tensors if not name.endswith("embed_positions.weights")}
    layers = {names[name]: tensors[name] for name in names if ".layer" in name}
    return {**layers, **dict.fromkeys(TABLES, tensors[SHARED])}


def read_subwords(folder: HubFolder) -> list[str]:
    """Return the words of the first rows: those of vocab.json, or else of sentencepiece behind fairseq's first four."""
    if (folder.path / VOCABULARY).is_file():
        return folder.subwords(VOCABULARY)
    model = SentencePieceProcessor(model_file=str(folder.file(SUBWORDS)))
    return [*SYMBOLS, *(model.id_to_piece(number) for number in range(3, model.vocab_size()))]


def read_languages(folder: HubFolder, first: int) -> dict[int, str]:
    """Return the languages by their rows: M2M-100's follow the subwords, NLLB's are in tokenizer.json."""
    if (folder.path / VOCABULARY).is_file():
        codes = folder.tokenizer().language_codes
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

"""Import of a Marian model of transformers, such as OPUS-MT's.

What fairseq has no place for goes into weights that it has, so that every command works as for a trained model:
positions are rows of a learned table; the row of the end symbol, from which the decoder starts, is that of Marian's
start symbol; and the bias of the logits is folded into the output matrix.
"""

from collections.abc import Sequence

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.requests.option_choice import choose
from realformer_nmt.corpora.subwords.subword_methods import SOURCE_MODEL, TAGS, TARGET_MODEL
from realformer_nmt.data_bins.vocabulary import SYMBOLS
from realformer_nmt.exporting.importing.hub_folder import CONFIG, HINT, HubFolder
from realformer_nmt.exporting.importing.imported_run import ImportedModel
from realformer_nmt.exporting.importing.marian_weights import (
    FIRST_POSITION,
    POSITIONS,
    MarianConfig,
    MarianWeights,
    order,
)
from realformer_nmt.exporting.marian import ACTIVATIONS
from realformer_nmt.model.config import SIDES
from realformer_nmt.model.presets import Preset

FROM_MARIAN = {"silu": "swish", **{name: fairseq_name for fairseq_name, name in ACTIVATIONS.items()}}


def read(folder: HubFolder) -> ImportedModel:
    config = folder.read(CONFIG, MarianConfig)
    source = vocabulary(folder, "vocab.json", config.eos_token_id)
    separate = (folder.path / "target_vocab.json").is_file()
    target = vocabulary(folder, "target_vocab.json", config.eos_token_id) if separate else source
    if config.decoder_start_token_id not in range(len(target)):
        raise UserError(
            f"{folder.path / CONFIG}: decoder_start_token_id is {config.decoder_start_token_id}; allowed is the number "
            f"of a subword, 0 to {len(target) - 1}; {HINT}"
        )
    weights = MarianWeights(folder, config).converted(source, target)
    limits = {side: len(weights[POSITIONS.format(side)]) - FIRST_POSITION for side in SIDES}
    tags = [word for word in source if word.startswith(">>") and word.endswith("<<")]
    models = {name: folder.file(name).read_bytes() for name in (SOURCE_MODEL, TARGET_MODEL)}
    return ImportedModel(
        arch="post_ln",
        options=options(folder, config, limits),
        weights=weights,
        words=(listed(source), listed(target)),
        subwords="sentencepiece_pair",
        files={**models, TAGS: "".join(f"{tag}\n" for tag in tags).encode()},
    )


def vocabulary(folder: HubFolder, name: str, end: int) -> list[str]:
    """Return the subwords of a vocabulary; refuse one without Marian's symbols."""
    entries = folder.subwords(name)
    numbers = {symbol: entries.index(symbol) for symbol in SYMBOLS if symbol in entries}
    if not {*SYMBOLS[1:]} <= numbers.keys() or numbers["</s>"] != end:
        raise UserError(
            f"{folder.path / name} has {numbers} among its {len(entries)} subwords; a Marian vocabulary has "
            f"{', '.join(SYMBOLS[1:])}, and </s> as eos_token_id in {CONFIG}, {end}"
        )
    return entries


def listed(words: Sequence[str]) -> list[str]:
    """Return the words that a file of fairseq's dictionary lists."""
    return [words[number] for number in order(words)[len(SYMBOLS) :]]


def options(folder: HubFolder, config: MarianConfig, limits: dict[str, int]) -> Preset:
    activation = choose(f"{folder.path / CONFIG}: activation_function", config.activation_function, FROM_MARIAN)
    return {
        **config.options(),
        **{f"{side}_learned_pos": True for side in SIDES},
        "share_all_embeddings": False,
        "activation_fn": activation,
        "max_source_positions": limits["encoder"],
        "max_target_positions": limits["decoder"],
    }

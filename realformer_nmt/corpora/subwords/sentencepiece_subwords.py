"""sentencepiece: raw text in, raw text out, with pieces that are learnt from both sides of the training text together.

Text is not normalised, and characters that the model does not know become bytes, so that decoding restores what was
encoded, except U+2581, which stands for a space in the subwords.
"""

import functools
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import sentencepiece

from realformer_nmt.common.errors import UserError
from realformer_nmt.corpora.progress import shown
from realformer_nmt.corpora.subwords.subword_methods import DICTIONARY, MODEL
from realformer_nmt.corpora.subwords.subwords import (
    STATES,
    Encoder,
    FileStates,
    Lines,
    Surface,
    TooLargeError,
    TrainingTexts,
    WordMemory,
    split,
)
from realformer_nmt.data_bins.file_checks import check_prepared
from realformer_nmt.data_bins.vocabulary import SYMBOLS

SPACE = "\u2581"
PROBE = "A \uff22 \ufb01 e\u0301 \u00a0 \u200b"  # what a model that normalises its text would change
SAMPLE = 2_500_000  # pairs that sentencepiece learns from


def learn(texts: TrainingTexts, folder: Path, size: int, _: int) -> None:
    """Train sentencepiece; `size` includes the four symbols of fairseq's dictionary.

    The result depends on the text alone."""
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=sample(texts, SAMPLE),
            model_writer=model,
            vocab_size=size - len(SYMBOLS) + 1,  # of the four symbols, sentencepiece has <unk>
            model_type="bpe",
            character_coverage=0.9998,
            byte_fallback=True,
            normalization_rule_name="identity",
            unk_id=0,
            bos_id=-1,
            eos_id=-1,
            pad_id=-1,
            num_threads=16,  # fixed, since the model file records it
            minloglevel=2,
        )
    except RuntimeError as error:
        raise refusal(size, str(error).rpartition("] ")[2]) from error
    (folder / MODEL).write_bytes(model.getvalue())
    learnt = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    subwords = (learnt.id_to_piece(number) for number in range(learnt.vocab_size()))
    lines = (f"{subword} 1\n" for subword in subwords if subword not in SYMBOLS)
    (folder / DICTIONARY).write_text("".join(lines), encoding="utf-8", newline="\n")


def refusal(size: int, reason: str) -> UserError:
    """Return sentencepiece's reason with what --vocabulary may be instead of options that only it has."""
    limit = re.search(r"(vs|<=) (\d+)", reason)
    problem = f"sentencepiece cannot learn {size} pieces: {re.split(r' (?:Increase|Please) ', reason)[0]}"
    if limit is None:
        return UserError(problem)
    allowed = int(limit[2]) + len(SYMBOLS) - 1  # it counts <unk> alone
    if limit[1] == "vs":
        return UserError(f"{problem} Give --vocabulary {allowed} or more")
    return TooLargeError(f"{problem} Give --vocabulary {allowed} or less", allowed)


def sample(texts: TrainingTexts, most: int) -> Iterator[str]:
    """Yield both lines of every n-th pair, with the smallest n that gives at most `most` pairs."""
    step = -(-texts.pairs // most)
    pairs_read = 0
    for block in texts.blocks():
        for source_line, target_line in zip(split(block.source), split(block.target), strict=True):
            if pairs_read % step == 0:
                yield source_line
                yield target_line
            pairs_read += 1
    if shown(texts.quiet):
        print("subwords: sentencepiece is learning; it does not tell how far it is", file=sys.stderr)


def sentencepiece_model(folder: Path, name: str = MODEL) -> sentencepiece.SentencePieceProcessor:
    return load_model(folder.absolute() / name, STATES.get(folder.absolute()))


@functools.cache
def load_model(file: Path, _: FileStates | None) -> sentencepiece.SentencePieceProcessor:
    check_prepared(file)
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=file.read_bytes())
    except RuntimeError as error:
        raise UserError(f"{file} is no model of sentencepiece's; `realformer-nmt prepare` makes it") from error


def encoder(folder: Path, name: str = MODEL) -> Encoder:
    model = sentencepiece_model(folder, name)
    encode_lines = functools.partial(encode, model)
    return functools.partial(encode_words, model, WordMemory(encode_lines)) if is_wordwise(model) else encode_lines


def encode(model: sentencepiece.SentencePieceProcessor, lines: Lines) -> Lines:
    return [" ".join(subwords) for subwords in model.encode(lines, out_type=str, num_threads=1)]


def is_wordwise(model: sentencepiece.SentencePieceProcessor) -> bool:
    """Tell whether each word is split apart from its neighbours, as by the models that are learnt here."""
    subwords = map(model.id_to_piece, range(model.vocab_size()))
    words = [subword for word in PROBE.split(" ") for subword in model.encode(word, out_type=str)]
    unchanged = model.decode(words) == PROBE and model.encode(PROBE, out_type=str) == words
    return unchanged and not any(SPACE in subword[1:] for subword in subwords)


def encode_words(model: sentencepiece.SentencePieceProcessor, words: WordMemory, lines: Lines) -> Lines:
    if any(SPACE in line for line in lines):  # at an end of a word it counts as a space, or not, by what follows
        return encode(model, lines)
    return words(lines)


def detokenise(lines: Lines, folder: Path | None, _: str, name: str = MODEL) -> Surface:
    if folder is None:
        raise UserError(f"the folder of {name} is needed to join its pieces: pass --subwords-folder")
    model = sentencepiece_model(folder, name)
    texts = (model.decode(line.split()) for line in lines)
    return Surface(None, [text.replace("\n", " ") for text in texts])  # <0x0A>, which a poor model may write

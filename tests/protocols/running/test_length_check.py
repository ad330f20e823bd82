"""Held-out texts that are too long, counted in the text itself."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from texts.text_corpora import MASKED, PLACED, SENTENCES

from realformer_nmt.common.errors import UserError
from realformer_nmt.protocols.running import length_check, updates

OPTIONS = ("--optimizer", "adam", "--max-update", 1, "--arch", "pre_ln_bert_tiny", "--max-tokens", 400)
TASKS = {
    "masked": ("input0", "--tokens-per-sample", (*MASKED, "--sample-break-mode", "eos")),
    "sentences": (".", "--max-positions", (*SENTENCES, *PLACED)),
}


@pytest.mark.parametrize("task", TASKS)
def test_what_validation_would_end_at_is_counted(task: str, text_corpus: Path) -> None:
    """<s> before each line and </s> after it are read, too."""
    data, limit, task_options = TASKS[task]
    tokens = [len(line.split()) + 2 for line in (text_corpus / "valid.text").read_text().splitlines()]
    long = [place for place, number in enumerate(tokens, 1) if number > 7]
    message = f"{len(long)} of valid are too long, such as number {long[0]} with {tokens[long[0] - 1]} tokens; allowed"
    words = [str(text_corpus / data), *map(str, (*OPTIONS, *task_options))]
    for flag in (limit, "--max-tokens-valid"):
        with pytest.raises(UserError, match=message):
            check([*words, flag, "7"])
        check([*words, flag, "7", "--skip-invalid-size-inputs-valid-test"])
        check([*words, flag, str(max(tokens))])
    with pytest.raises(UserError, match="of train are too long"):
        check([*words, limit, "7", "--disable-validation"], ["absent", "train"])


def test_of_a_pair_both_lengths_are_reported(toy_corpus: Path) -> None:
    sides = [toy_corpus.with_name(f"valid.{language}").read_text().splitlines() for language in ("src", "tgt")]
    lengths = [[len(line.split()) + 1 for line in side] for side in sides]
    place, pair = next((n, pair) for n, pair in enumerate(zip(*lengths, strict=True), 1) if max(pair) > 7)
    options = ("--optimizer", "adam", "--max-update", "1", "--arch", "pre_ln_tiny", "--max-tokens", "400")
    limits = ("--max-source-positions", "7", "--max-target-positions", "7")
    with pytest.raises(UserError, match=f"such as number {place} with {pair[0]} and {pair[1]} tokens; allowed"):
        check([str(toy_corpus), *options, *limits])
    with pytest.raises(UserError, match=f"{pair[0]} and {pair[1]} tokens; allowed.*--score-length"):
        check([str(toy_corpus), *options, "--score-source", "random", "--score-length", "7"])


def check(words: Sequence[str], more: Sequence[str] = ()) -> None:
    cfg = updates.parse(words)
    length_check.check(cfg, updates.set_up(cfg), more)

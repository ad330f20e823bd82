"""A command leaves alone what is not its own: a small version of reliability/attacks_outputs.py, and its table."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import fields
from tiny_models import saved

from realformer_nmt.analysis.analysis_record import AnalysisRecord
from realformer_nmt.checkpoints.average_record import AverageRecord
from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.common.stages import outputs
from realformer_nmt.comparison.results.results_file import Results
from realformer_nmt.corpora.preparing.prepare_record import PrepareRecord
from realformer_nmt.evaluation.rows.answering import AnswerRecord
from realformer_nmt.evaluation.rows.score_squad import SquadScoreRecord
from realformer_nmt.evaluation.run_record import RunRecord
from realformer_nmt.evaluation.translating.translation_record import TranslationRecord
from realformer_nmt.subcommands import SUBCOMMANDS, parser
from reliability import attacks_outputs

RECORDS = {
    "train": TrainRecord,
    "score": RunRecord,
    "score-squad": SquadScoreRecord,
    "answer": AnswerRecord,
    "translate": TranslationRecord,
    "analyse": AnalysisRecord,
    "average": AverageRecord,
    "sample": PrepareRecord,
    "compare": Results,
}

READ = """
    install-engine --sdist
    fetch --archives
    prepare --archives
    prepare --train
    prepare --valid
    prepare --test
    prepare --like
    train --data
    train --from
    train --carry-embeddings
    translate --prepared
    translate --data
    translate --subwords-folder
    score --reference
    score --source
    score --training
    evaluate --data
    answer --questions
    answer --data
    score-squad --questions
    serve --prepared
    serve --data
    serve --subwords-folder
    export --prepared
    export --data
    export --subwords-folder
    analyse --data
    analyse --alignment
    run --archives
    compare --prepared
    compare --archives
    compare --merge
"""


def options() -> Iterator[str]:
    """Yield the options that take a path, of every command."""
    actions = parser([row.name for row in SUBCOMMANDS])._actions
    (commands,) = (action.choices for action in actions if isinstance(action, argparse._SubParsersAction))
    for name, of_it in commands.items():
        for action in of_it._actions:
            if action.option_strings and action.type not in (None, int, float, str):
                yield f"{name} {action.option_strings[0]}"


def test_every_option_that_takes_a_path_is_attacked_or_is_but_read() -> None:
    read = {*map(str.strip, READ.strip().splitlines()), *(f"{row.name} --user-dir" for row in SUBCOMMANDS)}
    assert set(options()) == read | set(attacks_outputs.CALLS)
    assert read & set(attacks_outputs.CALLS) <= set()


def test_files_of_others_are_left_as_they_are(toy_corpus: Path, tmp_path: Path) -> None:
    checkpoint = saved.save(tmp_path / "good.pt", saved.state(toy_corpus))
    assert attacks_outputs.refuse_all(toy_corpus, checkpoint, tmp_path / "current", 5) > 60


@pytest.mark.parametrize(("command", "kind"), RECORDS.items())
def test_a_record_with_the_fields_of_its_class_is_its_commands(
    command: str, kind: type[Struct], tmp_path: Path
) -> None:
    """A field that is renamed in a class, and not in RECORD_KEYS, would let the command refuse its own files."""
    file = tmp_path / "record.json"
    file.write_text(json.dumps(dict.fromkeys(field.encode_name for field in fields(kind))))
    assert outputs.is_record(file, command)

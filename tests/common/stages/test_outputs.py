"""A command leaves alone what is not its own: a small version of reliability/attacks_outputs.py, and its table."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_models import saved

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.stages import outputs
from realformer_nmt.protocols.command import parse_address
from realformer_nmt.subcommands import SUBCOMMANDS, parser
from reliability import attacks_outputs

JSON_OF_USERS = {  # none is read by Python's json, or none says that it is a record
    "comments": b'{\n  "name": "a" // of the study\n}\n',
    "several": b'{\n  "name": "a"\n}\n{\n  "name": "b"\n}\n',
    "latin-1": '{\n  "name": "Gr\u00fc\u00dfe"\n}\n'.encode("latin-1"),
    "i18next": b'{\n  "files": "Dateien",\n  "decoding": "Dekodierung",\n  "checkpoints": "Stand"\n}\n',
    "cut off": b'{\n  "comparisons": [],\n  "correc',
    "a list": b'[{"written_by": "realformer-nmt significance"}]',
    "another command's": b'{"written_by": "realformer-nmt score"}',
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
            if action.option_strings and action.type not in (None, int, float, str, parse_address):
                yield f"{name} {action.option_strings[0]}"


def test_every_option_that_takes_a_path_is_attacked_or_is_but_read() -> None:
    read = {*map(str.strip, READ.strip().splitlines()), *(f"{row.name} --user-dir" for row in SUBCOMMANDS)}
    assert set(options()) == read | set(attacks_outputs.CALLS)
    assert read & set(attacks_outputs.CALLS) <= set()


def test_files_of_others_are_left_as_they_are(toy_corpus: Path, tmp_path: Path) -> None:
    checkpoint = saved.save(tmp_path / "good.pt", saved.state(toy_corpus))
    assert attacks_outputs.refuse_all(toy_corpus, checkpoint, tmp_path / "current", 5) > 50


@pytest.mark.parametrize("content", JSON_OF_USERS.values(), ids=JSON_OF_USERS)
def test_json_that_does_not_name_the_command_is_not_its_record(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.json exists, and nothing says .*: name another output, or remove it"):
        outputs.check_record(file, "significance")
    outputs.void(file, "significance")
    assert [file.read_bytes()] == [path.read_bytes() for path in tmp_path.iterdir()] == [content]

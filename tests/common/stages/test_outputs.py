"""A command leaves alone what is not its own: a small version of reliability/attacks_outputs.py."""

from pathlib import Path

import pytest
from tiny_models import saved

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.stages import outputs
from reliability import attacks_outputs

JSON_OF_USERS = {  # none is read by Python's json, or none says that it is a record
    "comments": b'{\n  "name": "a" // of the study\n}\n',
    "latin-1": '{\n  "name": "Gr\u00fc\u00dfe"\n}\n'.encode("latin-1"),
    "cut off": b'{\n  "comparisons": [],\n  "correc',
    "a list": b'[{"written_by": "realformer-nmt significance"}]',
    "another command's": b'{"written_by": "realformer-nmt score"}',
}


def test_files_of_others_are_left_as_they_are(toy_corpus: Path, tmp_path: Path) -> None:
    checkpoint = saved.save(tmp_path / "good.pt", saved.state(toy_corpus))
    assert attacks_outputs.refuse_all(toy_corpus, checkpoint, tmp_path / "current", 4) > 50


@pytest.mark.parametrize("content", JSON_OF_USERS.values(), ids=JSON_OF_USERS)
def test_json_that_does_not_name_the_command_is_not_its_record(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.json exists, and nothing says .*: name another output, or remove it"):
        outputs.check_record(file, "significance")
    assert [file.read_bytes()] == [path.read_bytes() for path in tmp_path.iterdir()] == [content]

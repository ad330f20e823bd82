"""Commands in forks of a server, as most tests run them, do and say what the executables do."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import commands, fork_client
from programs.stock_runs import TINY, difference

# Times and speeds
CHANGES = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\b\S+(?= seconds)|((?<=wps|ups)|(?<=wall))[ =]\S+")
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
in_forks = pytest.mark.skipif(commands.GPU, reason="with a GPU every command is its executable")


def outcome(done: "subprocess.CompletedProcess[str]", folder: Path) -> tuple[int, list[str], str]:
    lines = CHANGES.sub("", done.stdout).replace(str(folder), "FOLDER").splitlines()
    return done.returncode, lines, done.stderr


def real(words: list[str], folder: Path) -> tuple[int, list[str], str]:
    environment = {**os.environ, **ONE_THREAD}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return outcome(done, folder)


def forked(words: list[str], folder: Path, which: str = "train") -> tuple[int, list[str], str]:
    assert commands.server_for(words, {**os.environ, **ONE_THREAD}) == which
    return outcome(commands.run(words, folder=folder), folder)


@pytest.fixture
def train(toy_corpus: Path, user_dir: Path) -> list[str]:
    limits = ("--max-update", 3, "--disable-validation", "--save-dir", "saved")
    return commands.fairseq("train", toy_corpus, "--user-dir", user_dir, *TINY, *limits)


@in_forks
def test_a_training_is_the_same_to_the_last_bit(train: list[str], tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("executable", "fork")]
    for folder in folders:
        folder.mkdir()
    outcomes = [real(train, folders[0]), forked(train, folders[1])]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == 0
    assert difference(*(folder / "saved" / "checkpoint_last.pt" for folder in folders)) == 0


@in_forks
def test_a_command_that_nobody_waits_for_is_killed(train: list[str], tmp_path: Path) -> None:
    """Its output ends, and so does this test."""
    address = commands.server("train")
    endless, (reader, writer) = [*train, "--max-update", "1000000"], os.pipe()
    environment = {**os.environ, **ONE_THREAD}
    streams = (writer, writer, writer)
    with fork_client.begin(address, endless, str(tmp_path), environment, streams) as connection:
        connection.settimeout(1)
        with pytest.raises(TimeoutError):
            fork_client.status(connection)
    os.close(writer)
    with os.fdopen(reader) as output:
        assert "done training" not in output.read()


@pytest.mark.parametrize(
    "text",
    [
        "import threading; main = threading.main_thread(); threading.Thread(target=lambda: print(main.join())).start()",
        "file = open('left_open', 'w'); file.write('not yet written')",
        "print('not yet written'); raise SystemExit('why')",
        "import sys; sys.excepthook = lambda *error: print(error[1]); raise ValueError('why')",
    ],
)
def test_a_program_ends_alike(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(commands.MODULES, "bare", ("numpy",))
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    monkeypatch.setattr(commands, "server_for", lambda *_: "bare")
    folders = [tmp_path / "real", tmp_path / "forked"]
    for folder in folders:
        folder.mkdir()
    one, other = real([sys.executable, "-c", text], folders[0]), commands.run(["-c", text], folder=folders[1])
    assert one == outcome(other, folders[1])
    files = [{file.name: file.read_text() for file in folder.iterdir()} for folder in folders]
    assert files[0] == files[1]


@pytest.mark.parametrize(("environment", "forked"), [({"SHLVL": "9"}, True), ({"LOGLEVEL": "DEBUG"}, False)])
def test_what_our_commands_start_is_a_fork_if_it_can_be(environment: dict[str, str], forked: bool) -> None:
    words = [commands.python_of_forks(), "-c", "import sys; print('fairseq' in sys.modules, sys.argv)", "a b"]
    variables = {**os.environ, **ONE_THREAD, **environment}
    assert subprocess.check_output(words, env=variables, text=True) == f"{forked} ['-c', 'a b']\n"

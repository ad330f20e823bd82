"""A lock between processes, which ends with the one that holds it."""

import fcntl
import os
import signal
import time
from pathlib import Path

import pytest
from programs.processes import started

from realformer_nmt.common.errors import UserError
from realformer_nmt.common.files.folder_lock import is_locked, locked

HOLD = """
import os
import sys
import time
from pathlib import Path
from realformer_nmt.common.files.folder_lock import locked
with locked(Path(sys.argv[1]), "bakes"):
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(600)
    input()
"""


def test_another_process_is_refused_until_the_holder_ends_however_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "folder" / ".lock"
    assert not is_locked(file)
    holder, child = started("-c", HOLD, file)
    assert is_locked(file)
    with (
        pytest.raises(UserError, match="folder: another process bakes it; wait, or end that process"),
        locked(file, "bakes"),
    ):
        pass
    holder.send_signal(signal.SIGKILL)
    holder.wait(timeout=60)
    with locked(file, "bakes"):  # which the child has not inherited
        os.kill(int(child), signal.SIGKILL)


def test_who_asks_for_a_lock_writes_nothing_and_keeps_nobody_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "folder" / ".lock"
    assert not is_locked(file)
    assert not file.parent.exists()
    with locked(file, "bakes"):
        pass
    with file.open() as other:
        fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)  # as another process does that asks
        assert not is_locked(file)
        with pytest.raises(UserError, match="another process bakes it"), locked(file, "bakes"):
            pass
        monkeypatch.setattr(time, "sleep", lambda _: fcntl.flock(other, fcntl.LOCK_UN))
        with locked(file, "bakes"):
            assert is_locked(file)


def test_a_lock_cuts_off_nothing_where_a_link_leads(tmp_path: Path) -> None:
    """Somebody else may have made the folder, of which no more than the status is asked."""
    (tmp_path / "other").write_text("kept")
    (tmp_path / ".lock").symlink_to("other")
    with pytest.raises(UserError, match=r"\.lock: Too many levels of symbolic links"):
        is_locked(tmp_path / ".lock")
    assert (tmp_path / "other").read_text() == "kept"

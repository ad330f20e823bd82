"""The checkpoints that another one was made from, as an average and an export hold them."""

from pathlib import Path

from msgspec import convert

from realformer_nmt.checkpoints.average_record import SourceCheckpoint
from realformer_nmt.checkpoints.files.checkpoint_fields import table
from realformer_nmt.checkpoints.files.reading import Checkpoint
from realformer_nmt.common.files.json_records import expected

AVERAGED, EXPORTED = "averaged", "exported_from"  # keys of extra_state


def sources(path: Path, state: Checkpoint) -> list[SourceCheckpoint]:
    """Return the checkpoints that an average or an export was made from, and none for any other checkpoint."""
    extra = table(state.get("extra_state"))
    members = [extra[EXPORTED]] if EXPORTED in extra else extra.get(AVERAGED) or []
    with expected(path, "give a checkpoint of `realformer-nmt average`"):
        return convert(members, list[SourceCheckpoint])

"""Check of the flags of fairseq-train that a file sets: a protocol's and a grid's [train].

Such a file may come from elsewhere. It sets what the register (fairseq_options.py) allows to files, and the flags that
a loss, optimizer or schedule of the user's own --user-dir declares.
"""

import re
import sys
from collections.abc import Mapping
from typing import Any

from realformer_nmt.common.requests.option_choice import not_allowed, suggestion
from realformer_nmt.fairseq_options import CRITERIA, IN_FILES
from realformer_nmt.model.part_names import FAMILY_OPTIONS
from realformer_nmt.tasks import TASKS

PART_FLAGS = tuple(part.replace("_", "-") for part in FAMILY_OPTIONS)
ALLOWED = IN_FILES.union(*(task.flags for task in TASKS.values()))
LOSSES = (*CRITERIA, *(task.criterion for task in TASKS.values() if task.criterion))
WORD = re.compile(r"[A-Za-z0-9_.]([A-Za-z0-9_.,+ ()\[\]-]*[A-Za-z0-9_.)\]])?|[(\[][0-9., e-]*[)\]]|-[0-9.][0-9.e-]*")


def check_flags(flags: Mapping[str, Any], elsewhere: Mapping[str, str]) -> None:
    """Raise a ValueError at the first flag, or the first value, that [train] of a file may not set.

    `elsewhere` names the key of the file that sets a flag: training, plan and table would else use different values.
    """
    for name, value in flags.items():
        check_name(name, elsewhere)
        for word in value if isinstance(value, list) else [value]:
            if not (WORD.fullmatch(word) if isinstance(word, str) else isinstance(word, int | float)):
                raise ValueError(f"--{name} {word!r}: allowed is a number or a word, without paths, ${{...}} or flags")
        if name == "criterion" and value not in (criteria := (*LOSSES, *own_components("criterion"))):
            raise ValueError(not_allowed("--criterion", str(value), criteria) + "; one of your own needs --user-dir")


def check_name(name: str, elsewhere: Mapping[str, str]) -> None:
    if name in elsewhere:
        raise ValueError(f"train: {name} is set by {elsewhere[name]}; give it there")
    if name in PART_FLAGS:
        raise ValueError(
            f"--{name} is what a family's name stands for: name another family, or give your own a name "
            "(in a clone: docs/adding.md)"
        )
    if name not in ALLOWED and name not in own_flags():
        hint = suggestion(name, ALLOWED) or ": `realformer-nmt train` takes it after its `--`"
        raise ValueError(f"--{name} may not be set in a file{hint}")


def own_flags() -> set[str]:
    """Return the flags of the losses, optimizers and schedules of a --user-dir."""
    components = [own_components(group) for group in ("criterion", "optimizer", "lr_scheduler")]
    return {flag for group in components for flags in group.values() for flag in flags}


def own_components(group: str) -> dict[str, set[str]]:
    """Return the flags of each component that a --user-dir has registered in a group, for which it imports fairseq."""
    if "fairseq" not in sys.modules:
        return {}
    from realformer_nmt.checkpoints.files import allowed_components  # late: it imports fairseq

    rows = allowed_components.own_components(group).items()
    return {name: {field.replace("_", "-") for field in allowed_components.declared(row)} for name, row in rows}

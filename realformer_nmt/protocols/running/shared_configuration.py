"""fairseq's configuration of a training, of which hydra builds what the cells of a grid share only once.

It takes half a second, and cells differ in their model, their length, their folder and their seed alone.
"""

import copy
import functools
import re
from argparse import Namespace
from collections.abc import Hashable, Mapping
from typing import Any

from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.models import ARCH_MODEL_NAME_REGISTRY
from omegaconf import DictConfig

from realformer_nmt.model.part_names import PART_NAMES
from realformer_nmt.model.presets import SIZES, find

OF_A_CELL = {"save_dir", "log_file", "seed", "max_epoch", *PART_NAMES, *SIZES["tiny"]}
PLAIN = re.compile(r"[\w./ +-]*")  # what hydra leaves as it is


def configuration(options: Mapping[str, Any]) -> Any:
    """Return what fairseq makes of its options; the caller may change the result."""
    cell = {name: value for name, value in options.items() if name in OF_A_CELL}
    if find(options["arch"]) is None or not all(PLAIN.fullmatch(str(value)) for value in cell.values()):
        return convert_namespace_to_omegaconf(Namespace(**options))
    rest = {**options, "arch": ARCH_MODEL_NAME_REGISTRY[options["arch"]]}
    cfg = copy.deepcopy(shared(tuple((name, frozen(rest[name])) for name in sorted(rest.keys() - cell.keys()))))
    cfg.model._name = options["arch"]
    for group in cfg.values():
        fill(group, cell)
    return cfg


@functools.lru_cache(maxsize=64)
def shared(options: tuple[tuple[str, Hashable], ...]) -> Any:
    return convert_namespace_to_omegaconf(Namespace(**dict(options)))


def frozen(value: Any) -> Hashable:
    return tuple(value) if isinstance(value, list) else value


def fill(group: Any, values: Mapping[str, Any]) -> None:
    """Set the options that a group has."""
    for name in values.keys() & group.keys() if isinstance(group, DictConfig) else ():
        group[name] = values[name]

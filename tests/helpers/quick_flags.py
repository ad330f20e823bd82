"""fairseq has hydra parse its 250 settings, by a grammar, for which hydra copies all that is registered: a quarter of a
second a command. Here the registry is not copied, of which hydra copies what it takes out, and what was parsed
before is not parsed again. The same comes out (test_quick_flags.py); executables run without this."""

import copy
import functools
from typing import Any

from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf, override_module_args
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser


def make_quick() -> None:
    parse = functools.cache(OverridesParser.create().parse_rule)
    OverridesParser.parse_rule = lambda _, text, rule: copy.copy(parse(text, rule))
    ConfigStore.__deepcopy__ = lambda store, _: store
    for setting in override_module_args(_arguments())[0]:
        parse(setting, "override")


def _arguments(*words: str) -> Any:
    return options.parse_args_and_arch(options.get_training_parser(), ["data", "--arch", "transformer", *words])


def parsed(*words: str) -> Any:
    return convert_namespace_to_omegaconf(_arguments(*words))

"""fairseq has hydra parse its 250 settings, by a grammar, and compose them from all that is registered: a quarter of a
second a command. Here what was parsed before is not parsed again, and of the same choices (--arch, --optimizer ...) a
copy is taken, into which a command's own values go. The same comes out (test_quick_flags.py); executables run without
this."""

import copy
import functools
from typing import Any

from fairseq import options
from fairseq.dataclass import utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf, override_module_args
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, flag_override


def make_quick() -> None:
    parser = OverridesParser.create()
    parse = functools.cache(parser.parse_rule)
    OverridesParser.parse_rule = lambda _, text, rule: copy.copy(parse(text, rule))
    ConfigStore.__deepcopy__ = lambda store, _: store  # hydra copies what it takes out
    utils.compose = _composed(utils.compose, parser)
    for setting in override_module_args(_arguments())[0]:
        parse(setting, "override")


def _composed(compose: Any, parser: OverridesParser) -> Any:
    known: dict[tuple[str, ...], tuple[list[Any], DictConfig]] = {}

    def composed(name: str, overrides: list[str], **kwargs: Any) -> DictConfig:
        own = [setting for setting in overrides if "." in setting.partition("=")[0]]
        choices = tuple(setting for setting in overrides if setting not in own)
        nodes = [_registered(*choice.split("=", 1)) for choice in choices]
        before, cfg = known.get(choices, (None, None))
        if before is None or any(one is not other for one, other in zip(before, nodes, strict=True)):
            cfg = compose(name, [*choices], **kwargs)
            known[choices] = nodes, cfg
        cfg = copy.deepcopy(cfg)
        with flag_override(cfg, "struct", True):  # there are no others than those that are registered
            ConfigLoaderImpl._apply_overrides_to_config(parser.parse_overrides(own), cfg)
        return cfg

    return composed


def _registered(group: str, choice: str) -> Any:
    return ConfigStore.instance().repo.get(group, {}).get(f"{choice}.yaml")


def _arguments(*words: str) -> Any:
    return options.parse_args_and_arch(options.get_training_parser(), ["data", "--arch", "transformer", *words])


def parsed(*words: str) -> Any:
    return convert_namespace_to_omegaconf(_arguments(*words))

"""fairseq has hydra parse its 250 settings, by a grammar, and compose them from all that is registered: a quarter of a
second a command. Here what was parsed before is not parsed again, and what a command chooses (--arch, --optimizer ...)
and its own values go into a copy of what was composed before. The same comes out (test_quick_flags.py); executables run
without this."""

import copy
import functools
import inspect
import logging
import warnings
from types import SimpleNamespace
from typing import Any

from fairseq import options
from fairseq.dataclass import utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from hydra._internal import utils as hydra_utils
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.singleton import Singleton
from omegaconf import DictConfig, flag_override


def make_quick() -> None:
    parser = OverridesParser.create()
    parse = functools.cache(parser.parse_rule)
    OverridesParser.parse_rule = lambda _, text, rule: copy.copy(parse(text, rule))
    # hydra asks who called: without the lines around every call
    hydra_utils.inspect = SimpleNamespace(**{**vars(inspect), "stack": functools.partial(inspect.stack, 0)})
    ConfigStore.__deepcopy__ = lambda store, _: store  # hydra copies what it takes out
    utils.compose = _composed(utils.compose, parser)
    _compose_silently()


def _compose_silently() -> None:
    """Compose once without a message, and leave nothing behind that names a job."""
    singletons = dict(Singleton._instances)
    logging.disable()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed()
    logging.disable(logging.NOTSET)
    Singleton._instances.clear()
    Singleton._instances.update(singletons)


def _composed(compose: Any, parser: OverridesParser) -> Any:
    @functools.cache
    def unchosen(name: str) -> tuple[DictConfig, list[warnings.WarningMessage]]:
        with warnings.catch_warnings(record=True) as messages:
            warnings.simplefilter("always")
            return compose(name, [], strict=False), messages

    def composed(name: str, overrides: list[str], **kwargs: Any) -> DictConfig:
        settings = [setting for setting in overrides if "." in setting.partition("=")[0]]
        choices = [setting.split("=", 1) for setting in overrides if setting not in settings]
        nodes = [ConfigStore.instance().repo.get(group, {}).get(f"{choice}.yaml") for group, choice in choices]
        if None in nodes:
            return compose(name, overrides, **kwargs)
        before, messages = unchosen(name)
        for one in messages:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        cfg = copy.deepcopy(before)
        for (group, _), config_node in zip(choices, nodes, strict=True):
            cfg[group] = copy.deepcopy(config_node.node)
        with flag_override(cfg, "struct", True):  # there are no others than those that are registered
            ConfigLoaderImpl._apply_overrides_to_config(parser.parse_overrides(settings), cfg)
        return cfg

    return composed


def parsed(*words: str) -> Any:
    flags = ["data", "--arch", "transformer", *words]
    return convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), flags))

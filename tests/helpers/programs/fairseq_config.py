"""A training configuration as fairseq-train makes it of its command line."""

from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from omegaconf import DictConfig

import realformer_nmt

assert realformer_nmt  # imported to register its parts with fairseq


def configured(*arguments: object) -> DictConfig:
    parser = options.get_training_parser()
    words = ["no-data", "--arch", "transformer", *map(str, arguments)]
    return convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, input_args=words))

"""A request as its command reads it."""

import argparse
from typing import TypeVar

from realformer_nmt.common.requests.request import Request

SomeRequest = TypeVar("SomeRequest", bound=Request)


def read(kind: type[SomeRequest], *words: object) -> SomeRequest:
    parser = argparse.ArgumentParser()
    kind.add_arguments(parser)
    return kind.from_args(parser.parse_args([str(word) for word in words]))

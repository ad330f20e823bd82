"""The command `realformer-nmt`: a table of subcommands.

Each is a module with a REQUEST, which is imported only when the subcommand is called. So --help is quick, and `doctor`
works without fairseq.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from realformer_nmt.common import error_messages, extras, standard_streams, terminal, user_dir
from realformer_nmt.common.errors import UsageError, UserError, one_line
from realformer_nmt.common.late_imports import frozen
from realformer_nmt.common.requests.request import Request
from realformer_nmt.common.requests.subcommand_parser import SubcommandParser
from realformer_nmt.common.version import VERSION

PLUGIN = "realformer_nmt.plugin"


class Subcommand(NamedTuple):
    """A row of the table of subcommands."""

    name: str
    help: str
    module: str  # relative to this package, if it begins with a dot
    in_fairseq: bool = False  # whether this package's models must be registered with fairseq first
    extra: str | None = None  # of the package, whose libraries are looked for before anything is done


SUBCOMMANDS = (
    Subcommand("doctor", "show versions, the GPU, problems and how to solve them", ".cli.doctor"),
    Subcommand("install-engine", "build and install the tested fairseq", ".cli.engine"),
    Subcommand("user-dir", "print the folder to give to fairseq's --user-dir", ".cli.user_dir"),
    Subcommand("archs", "list the architectures", ".cli.archs"),
    Subcommand("inspect", "show what a checkpoint holds", ".checkpoints.inspect", True),
    Subcommand("fetch", "download a corpus and extract its texts", ".corpora.fetch"),
    Subcommand("prepare", "make a data-bin from a corpus or your files", ".corpora.preparing.prepare", extra="recipes"),
    Subcommand("sample", "copy a prepared corpus with a share of its pairs", ".corpora.sample"),
    Subcommand("protocol", "show how a paper trains, averages and decodes", ".protocols.show"),
    Subcommand("train", "train with a paper's settings, on any number of GPUs", ".protocols.train", True),
    Subcommand("updates", "count the updates that a training will make", ".protocols.count_updates", True),
    Subcommand("average", "average the weights of checkpoints", ".checkpoints.average", True),
    Subcommand("translate", "translate a test set or raw text", ".evaluation.translating.translate", True),
    Subcommand("score", "score a translation; show the published scores beside it", ".evaluation.scoring.score", True),
    Subcommand("evaluate", "measure a model of any task", ".evaluation.rows.evaluate", True),
    Subcommand("answer", "answer questions by spans of their texts", ".evaluation.rows.answer", True),
    Subcommand("score-squad", "score answers as SQuAD's script does", ".evaluation.rows.score_squad"),
    Subcommand("run", "go from a corpus' archives to the scores of a model", ".comparison.run", extra="recipes"),
    Subcommand("serve", "answer requests for translations, and show a page", ".serving.serve", extra="serve"),
    Subcommand("significance", "test whether runs differ from a baseline", ".evaluation.significance"),
    Subcommand("import", "take over a model of Hugging Face as a run", ".exporting.importing.import_model", True),
    Subcommand("export", "write a model as other programs read it", ".exporting.export", True),
    Subcommand("analyse", "show what trained models do inside", ".analysis.analyse", True, "analyse"),
    Subcommand("compare", "train, score and report a grid of models", ".comparison.compare_request", True, "compare"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 done, 1 an error, shown in one line, 2 wrong usage."""
    if argv is None:  # run as a program: keep the Pythons that it starts from importing from the current folder
        os.environ["PYTHONSAFEPATH"] = "1"
    tokens = list(sys.argv[1:] if argv is None else argv)
    standard_streams.make_usable()
    terminal.guard_output()
    try:
        with extras.user_errors(_subcommand(tokens)):
            status = _run(tokens)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        if "--debug" in tokens:
            raise
        if isinstance(error, BrokenPipeError):  # the reader of the output, such as `head`, has ended
            standard_streams.drop_unwritable_output()
        else:
            standard_streams.say(terminal.printable_lines(f"realformer-nmt: {_message(error)}"))
        return 2 if isinstance(error, UsageError) else 1
    return status


def _message(error: BaseException) -> str:
    """Return the line to show for an error."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    kind = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    unexpected = f"unexpected error: {kind}; run again with --debug, which shows where it happened, and report it"
    return error_messages.foreseen_message(error) or one_line(unexpected)


def _subcommand(tokens: Sequence[str]) -> str:
    return next((token for token in tokens if not token.startswith("-")), "")


def _run(tokens: Sequence[str]) -> int:
    name = _subcommand(tokens)
    called = [row for row in SUBCOMMANDS if row.name == name]
    import_user_dir(name, user_dir.folder_in(tokens))
    top = parser([row.name for row in called])
    args = top.parse_args(tokens)
    if not called:
        standard_streams.say(top.format_help())
        return 2
    _refuse_pipes(args)
    (row,) = called
    extras.check(row.extra)
    if row.in_fairseq:
        register(row.name)
    return request_of(row).from_args(args).run()


def parser(names: Collection[str]) -> argparse.ArgumentParser:
    """Return the parser of all subcommands; only those in `names` get their arguments, the rest a line of help."""
    top = SubcommandParser(prog="realformer-nmt", description="Deep residual Transformers for fairseq.")
    _add_debug(top, default=False)
    top.add_argument("--version", action="version", version=f"realformer-nmt {VERSION}")
    parsers = top.add_subparsers(dest="subcommand", metavar="SUBCOMMAND")
    for row in SUBCOMMANDS:
        subparser = parsers.add_parser(row.name, help=row.help)
        if row.name in names:
            _add_debug(subparser, default=argparse.SUPPRESS)  # allows `--debug NAME` and `NAME --debug`
            request_of(row).add_arguments(subparser)
    return top


def import_user_dir(name: str, folder: Path | None) -> None:
    """Import a folder as fairseq does with its --user-dir, so that its rows are there."""
    if folder is not None:
        if not (folder / "__init__.py").is_file():
            raise UserError(f"--user-dir {folder}: no Python package; give a folder with an __init__.py")
        register(name)
        import_user_module = load(name, "fairseq.utils").import_user_module
        try:
            import_user_module(argparse.Namespace(user_dir=str(folder.absolute())))
        except UserError:
            raise
        except Exception as error:
            place = error_messages.place_in(folder, error) or folder
            cause = one_line(f"{place}: {type(error).__name__}: {error}")
            raise UserError(f"--user-dir {folder} cannot be imported: {cause}; {error_messages.CORRECT}") from error


def register(name: str) -> None:
    """Register this package's models with fairseq, for a subcommand that builds them."""
    with frozen(PLUGIN):
        load(name, PLUGIN).register()


def request_of(row: Subcommand) -> type[Request]:
    """Return the class of requests that a subcommand's module defines."""
    request: type[Request] = load(row.name, row.module).REQUEST
    return request


def _refuse_pipes(args: argparse.Namespace) -> None:
    """Refuse pipes, which can be read only once, and devices, which may have no end."""
    for value in vars(args).values():
        for path in _paths(value):
            if path.is_fifo():
                raise UserError(f"{path} is a pipe, which can be read only once: write it to a file first")
            if path.is_char_device() or path.is_block_device():
                raise UserError(f"{path} is a device: give the name of a file")


def _paths(value: object) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
    for item in value if isinstance(value, list) else ():
        yield from _paths(item)


def _add_debug(parser: argparse.ArgumentParser, default: object) -> None:
    parser.add_argument("--debug", action="store_true", default=default, help="show an error's traceback")


def load(name: str, path: str) -> ModuleType:
    try:
        return importlib.import_module(path, __package__)
    except ImportError as error:
        if extras.advice(error):
            raise
        raise UserError(f"{name}: {error}; run `realformer-nmt doctor`, which says what to do") from error

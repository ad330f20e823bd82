"""Mistakes of users and the message of each, a row per kind.

A command's words stand as one would type them, in the folder that `inputs` in test_bad_inputs.py fills.
"""

from typing import NamedTuple


class Mistake(NamedTuple):
    name: str
    words: str
    message: str  # a regular expression


def _of(command: str, *rows: tuple[str, str, str]) -> list[Mistake]:
    return [Mistake(f"{command.split()[0]}: {name}", f"{command} {words}", message) for name, words, message in rows]


def _train(files: str) -> str:
    return f"{files} --valid ok.en ok.de"


TEXTS = _of(
    "prepare --source en --target de --workers 1 --quiet --folder made --vocabulary 300 --train",
    ("unreadable", _train("unreadable ok.de"), r"unreadable: .*error"),
    ("latin-1", _train("latin1 latin1"), r"latin1, line 2: invalid UTF-8; .*--invalid-utf8 replace"),
    ("damaged settings", _train("ok.en ok.de") + " --folder damaged", r"settings\.json is damaged: .*remove .*stages"),
)

MANIFESTS = _of("prepare --folder made", ("nested too deep", "deep.toml", r"deep\.toml: it is nested too deeply"))

TRAINS = _of(
    "train --gpus 0 --folder run --protocol own.toml --arch admin --layers 2",
    ("no data", "--data absent", r"absent is not a folder"),
    ("folder of its data-bin", "--data prep", r"prep holds no binarised pair .*; did you mean .*prep/data-bin\?"),
    ("data-bin of version 7", "--data version7", r"\.idx is no index of .*binarise"),
    ("data-bin is text", "--data noindex", r"\.idx is no index of fairseq's.*binarise"),
    ("data-bin cut off", "--data cut", r"\.bin has [\d,]+ bytes, .*: it is cut off"),
    ("index cut off", "--data cutindex", r"\.idx has [\d,]+ bytes, and not [\d,]+ for its 2,000"),
    ("dictionary of another", "--data otherwords", r"holds word 1\d, but .*\.txt has 8"),
    ("no dictionary", "--data nowords", r"dict\.src\.txt: No such file"),
    ("dictionary is prose", "--data prosewords", r"dict\.src\.txt is no dictionary"),
    ("damaged prepare.json", "--data prep_cut/data-bin", r"prepare\.json is damaged: "),
    ("damaged train.json", "--data data --folder damaged", r"train\.json exists, and nothing says .* or remove it"),
)

AVERAGES = _of(
    "average --output average.pt",
    ("missing", "absent.pt", r"absent\.pt: no such file or folder; give an existing"),
    ("cut off", "good.pt cut.pt", r"cut\.pt: it is not a complete checkpoint.* it is cut off .*copy it again"),
    ("into the folder", "good.pt --output .", r"\. is a folder, and a file is needed"),
)

INSPECTIONS = _of(
    "inspect",
    ("empty", "empty", r"empty: it is not a complete checkpoint \(it is empty\)"),
    ("stock fairseq's", "stock.pt", r"stock\.pt holds a model of arch transformer, which is not of this package"),
    ("options of another", "deeper.pt", r"deeper\.pt holds the weights of another model: it lacks .* and \d+ more"),
    ("width 2 x 10^9 in it", "vast.pt", r"vast\.pt asks for a model larger than this machine's memory"),
)

TRANSLATIONS = _of(
    "translate --cpu --output out",
    ("no preparation", "good.pt --prepared folder", r"prepare\.json: no such file; `realformer-nmt prepare` writes"),
    ("half a prepare.json", "good.pt --prepared prep_half", r"prepare\.json has .*, got `null` - at `\$\.settings`"),
    ("input no UTF-8", "good.pt --data data --subwords none --input latin1", r"latin1, line 2: not UTF-8; convert"),
    ("model of pieces gone", "good.pt --prepared prep --input ok.en", r"sentencepiece\.model: "),
)

SCORES = _of(
    "score --output run.json",
    ("damaged record", "hyp_cut", r"translation\.json is damaged: "),
    (
        "another version's",
        "hyp_half",
        r"translation\.json has an unexpected format: Object missing required field `files`",
    ),
    ("reference missing", "hyp --reference absent", r"absent: no such file"),
    ("checkpoint gone", "hyp_gone --reference ok.de --bootstrap 0", r"gone\.pt: no such file"),
    (
        "another's record",
        "hyp --reference ok.de --training damaged/stages/text.json",
        r"no training: it has no sessions",
    ),
)

GRIDS = _of(
    "compare --folder cells --prepared prep --plan",
    ("missing", "absent.toml", r"absent\.toml: No such file or directory; give a grid"),
    ("nested too deep", "deep.toml", r"deep\.toml: it is nested too deeply"),
) + _of(
    "compare grid.toml --folder cells", ("no preparation", "--prepared folder --plan", r"prepare\.json: no such file")
)

MISTAKES = [*TEXTS, *MANIFESTS, *TRAINS, *AVERAGES, *INSPECTIONS, *TRANSLATIONS, *SCORES, *GRIDS]

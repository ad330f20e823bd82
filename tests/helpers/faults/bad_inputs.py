"""Mistakes of users and what they are told, a row a mistake.

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
    ("empty", _train("empty empty"), r"no training pair is left"),
    ("missing", _train("absent.en ok.de"), r"absent\.en: No such file"),
    ("misaligned", _train("ok.en short.de"), r"ok\.en has 60 segments, but short\.de has 59: lines that are transl"),
    ("one line", _train("one.en one.de") + " --vocabulary 2000", r"cannot learn 2000 pieces: .*--vocabulary"),
    (
        "a line beyond memory",
        _train("bomb.gz bomb.gz"),
        r"bomb\.gz, line 1: longer than 67,108,864 bytes: check that it is a text",
    ),
    ("lengths crossed", _train("ok.en ok.de") + " --min-length 9 --max-length 3", r"min = 9: allowed is 1 to max"),
    ("languages the other way", _train("ok.en ok.de") + " --source de --target en", r"ok\.en ok\.de: .*other order"),
    ("a link to itself", _train("itself ok.de"), r"itself: Too many levels of symbolic links"),
    ("into a file", _train("ok.en ok.de") + " --folder ok.en", r"ok\.en is not a folder: name another one"),
    ("damaged settings", _train("ok.en ok.de") + " --folder damaged", r"settings\.json is damaged: .*remove .*stages"),
)

MANIFESTS = _of(
    "prepare --folder made",
    ("corpus and files", "wmt14_en_de --train ok.en ok.de", r"give either a corpus or your own files"),
    ("no manifest", "absent.toml", r"absent\.toml: No such file.*; shipped are"),
    ("no TOML", "text.toml", r"text\.toml: .*line 1"),
    ("no UTF-8", "latin1.toml", r"latin1\.toml: .*utf-8"),
    ("nested too deep", "deep.toml", r"deep\.toml: it is nested too deeply"),
    ("not over http", "file.toml", r"file\.toml: .*http or https URLs"),
)

FETCHES = _of(
    "fetch multi30k_en_de --quiet --folder made",
    ("no such archives", "--archives absent", r"--archives absent is not a folder"),
)

TRAINS = _of(
    "train --gpus 0 --folder run --protocol own.toml --arch admin --layers 2",
    ("no pair in it", "--data folder", r"folder.*(pair|dictionary)"),
    ("folder of its data-bin", "--data prep", r"prep holds no binarised pair .*; did you mean .*prep/data-bin\?"),
    ("unknown family", "--data data --arch realfomer --layers 2", r"realfomer is not one of .*mean realformer\?"),
    ("depth 0", "--data data --layers 0", r"--layers 0: allowed is a number, such as 18"),
    ("heads", "--data data -- --encoder-attention-heads 7", r"7 do not divide .* use 1, 2, 4"),
    ("no protocol", "--data data --protocol smal", r"smal is not one of .*mean small\?"),
    (
        "bad protocol",
        "--data data --protocol p_key.toml",
        r"p_key\.toml: key max_tokns is not .*max_tokens",
    ),
    ("its own base", "--data data --protocol loop.toml", r"loop\.toml names itself as base"),
    (
        "GPUs that are not",
        "--data data --gpus 64",
        r"--gpus 64, but this machine has (\d+|no GPU that torch can use): pass --gpus \d+, or --dry-run",
    ),
    ("data-bin cut off", "--data cut", r"\.bin has [\d,]+ bytes, .*: it is cut off"),
    ("index cut off", "--data cutindex", r"\.idx is cut off before the last of its 2,000"),
    ("dictionary of another", "--data otherwords", r"holds word 1\d, but .*\.txt has 8"),
    ("dictionary is prose", "--data prosewords", r"dict\.src\.txt is no dictionary"),
    ("damaged train.json", "--data data --folder damaged", r"train\.json exists, and nothing says .* or remove it"),
)

AVERAGES = _of(
    "average --output average.pt",
    ("missing", "absent.pt", r"absent\.pt: no such file; give checkpoints"),
    ("a text", "ok.en", r"ok\.en: it is not a complete checkpoint \(it has neither"),
    ("cut off", "good.pt cut.pt", r"cut\.pt: it is not a complete checkpoint.* it is cut off .*copy it again"),
    ("no model in it", "list.pt", r"list\.pt holds no model"),
    ("into the folder", "good.pt --output .", r"\. is a folder, and a file is needed"),
    ("into a file's folder", "good.pt --output ok.en/average.pt", r"ok\.en is not a folder: name another one"),
)

INSPECTIONS = _of(
    "inspect",
    ("missing", "absent.pt", r"absent\.pt: no such file"),
    ("cut off", "cut.pt", r"cut\.pt: it is not a complete checkpoint"),
    ("stock fairseq's", "stock.pt", r"stock\.pt holds a model of arch transformer, which is not of this package"),
    ("NaN", "nan.pt", r"nan\.pt holds NaN or infinity in decoder.*: the training diverged"),
    ("a parameter missing", "fewer.pt", r"fewer\.pt holds the weights of another model: it lacks decoder"),
    ("a parameter too many", "more.pt", r"more\.pt holds the weights of another model: it has decoder\.extra"),
    ("options of another", "deeper.pt", r"deeper\.pt holds the weights of another model: it lacks .* and \d+ more"),
    ("depth 10,000 in it", "abyss.pt", r"abyss\.pt: --encoder-layers 10000 is more than 1000"),
    ("width 10^12 in it", "vast.pt", r"vast\.pt asks for a model larger than this machine's memory"),
)

TRANSLATIONS = _of(
    "translate --cpu --output out",
    ("no corpus", "good.pt", r"a data-bin that `prepare` has not made: pass --data DATA-BIN and --subwords"),
    ("data alone", "good.pt --data data", r"--subwords, one of sentencepiece, moses_bpe, none; or --prepared FOLDER"),
    ("no preparation", "good.pt --prepared folder", r"prepare\.json: no such file; `realformer-nmt prepare` writes"),
    ("both", "good.pt --prepared prep --data data", r"prepare\.json says the same as --data: pass one of the two"),
    ("half a prepare.json", "good.pt --prepared prep_half", r"prepare\.json has .*, got `null` - at `\$\.settings`"),
    ("no such subset", "good.pt --data data --subwords none --subset tset", r"no subset tset in src: there are test"),
    ("no input", "good.pt --data data --subwords none --input absent", r"absent: no such file"),
    ("input no UTF-8", "good.pt --data data --subwords none --input latin1", r"latin1, line 2: not UTF-8; convert"),
    ("hyphens without Moses", "good.pt --data data --subwords none --hyphens plain", r"leave --hyphens out"),
    ("no model of the pieces", "good.pt --data data --subwords sentencepiece --input ok.en", r"pass --subwords-folder"),
)

SCORES = _of(
    "score --output run.json",
    ("no translation", "absent", r"translation\.json: no such file; `realformer-nmt translate` writes it"),
    (
        "another version's",
        "hyp_half",
        r"translation\.json has an unexpected format: Object missing required field `files`",
    ),
    ("text was changed", "hyp_changed --reference ok.de", r"hypotheses\.txt is not what translation\.json describes"),
    ("reference missing", "hyp --reference absent", r"absent: no such file"),
    ("reference too short", "hyp --reference short.de", r"60 hypotheses and 59 references: they must be those of"),
    ("reference no UTF-8", "hyp --reference latin1", r"latin1, line 2: not UTF-8"),
    ("no reference known", "hyp", r"pass --reference FILE"),
    ("unknown figures", "hyp --reference ok.de --published wmt41", r"--published wmt41 is not one of"),
    ("checkpoint gone", "hyp --reference ok.de --bootstrap 0", r"gone\.pt: no such file"),
    ("no such source", "hyp --reference ok.de --source absent", r"absent: no such file"),
    (
        "another's record",
        "hyp --reference ok.de --training damaged/stages/text.json",
        r"no training: it has no sessions",
    ),
) + _of(
    "significance",
    ("a run alone", "a.json", r"give two runs or more"),
    ("other JSON", "grid.json a.json", r"grid\.json is of version 0\.1\.0, or not of this package"),
    ("twice", "a.json a.json", r"a run is given twice"),
    ("another test set", "a.json b.json", r"b\.json has 59 lines, a\.json 60: compare runs on one test set"),
    (
        "text was changed",
        "a.json changed.json",
        r"is missing or has changed since changed\.json was written: make changed\.json",
    ),
)

GRIDS = _of(
    "compare --folder cells --prepared prep --plan",
    ("missing", "absent.toml", r"absent\.toml: No such file or directory; give a grid"),
    ("unknown key", "g_key.toml", r"g_key\.toml: key famlies is not one of .*did you mean families\?"),
    ("no cells", "g_none.toml", r"g_none\.toml: families: is empty, so nothing is compared"),
    ("depth 0", "g_zero.toml", r"g_zero\.toml: layers 0: allowed is a number"),
    ("unknown family", "g_family.toml", r"g_family\.toml: family adm1n is not one of .*mean admin\?"),
    ("corpus twice said", "g_corpus.toml", r"--prepared prep, but g_corpus\.toml says corpus"),
    ("nested too deep", "deep.toml", r"deep\.toml: it is nested too deeply"),
) + _of(
    "compare grid.toml --folder cells",
)

OTHERS = [
    Mistake("protocol: unknown", "protocol realfomer", r"realfomer is not one of .*mean realformer\?"),
]

MISTAKES = [*TEXTS, *MANIFESTS, *FETCHES, *TRAINS, *AVERAGES, *INSPECTIONS, *TRANSLATIONS, *SCORES, *GRIDS, *OTHERS]

CONTRADICTIONS = [  # argparse says these
    Mistake("train: two lengths", "train --epochs 2 --updates 3", "--updates: not allowed with .*--epochs"),
    Mistake("average: last and best", "average a --last 1 --best 1", "--best: not allowed with .*--last"),
    Mistake("translate: two halves", "translate a --fp16 --bf16", "--bf16: not allowed with .*--fp16"),
    Mistake("compare: plan and report", "compare g --plan --report", "--report: not allowed with .*--plan"),
    Mistake("train: two ports", "train --master a:b:c", "--master: 'a:b:c': allowed is HOST:PORT"),
    Mistake("average: no number", "average a --last two", "--last: invalid int value: 'two'"),
]

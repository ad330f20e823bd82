"""Mistakes of users and the message of each, a row per mistake.

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
    ("unreadable", _train("unreadable ok.de"), r"unreadable: .*error"),
    ("misaligned", _train("ok.en short.de"), r"ok\.en has 60 segments, but short\.de has 59: lines that are transl"),
    ("latin-1", _train("latin1 latin1"), r"latin1, line 2: invalid UTF-8; .*--invalid-utf8 replace"),
    ("binary", _train("binary ok.de"), r"binary, line \d: invalid UTF-8|binary has \d+ segments"),
    ("one line", _train("one.en one.de") + " --vocabulary 2000", r"cannot learn 2000 pieces: .*--vocabulary"),
    (
        "a line beyond memory",
        _train("bomb.gz bomb.gz"),
        r"bomb\.gz, line 1: longer than 67,108,864 bytes: check that it is a text",
    ),
    ("cut gzip", _train("cut.gz cut.gz"), r"cut\.gz: incomplete or damaged gzip file"),
    ("valid empty", "ok.en ok.de --valid empty empty", r"no pair is left for valid of .*empty"),
    ("held out too rarely", "ok.en ok.de --held-out 1000", r"no pair is left for valid .*--held-out 1000"),
    ("languages the other way", _train("ok.en ok.de") + " --source de --target en", r"ok\.en ok\.de: .*other order"),
    ("a link to itself", _train("itself ok.de"), r"itself: Too many levels of symbolic links"),
    ("one language", _train("ok.en ok.de") + " --target en", r"--source en and --target en: .* two different"),
    ("into a file", _train("ok.en ok.de") + " --folder ok.en", r"ok\.en is not a folder: name another one"),
    (
        "other settings",
        _train("ok.en ok.de") + " --folder begun",
        r"other settings or files: source was fr, is now en",
    ),
    ("damaged settings", _train("ok.en ok.de") + " --folder damaged", r"settings\.json is damaged: .*remove .*stages"),
)

MANIFESTS = _of(
    "prepare --folder made",
    ("unknown corpus", "wmt14_en_dee", r"wmt14_en_dee is not one of .*did you mean wmt14_en_de\?"),
    ("corpus and files", "wmt14_en_de --train ok.en ok.de", r"give either a corpus or your own files"),
    ("no manifest", "absent.toml", r"absent\.toml: No such file.*; shipped are"),
    ("nested too deep", "deep.toml", r"deep\.toml: it is nested too deeply"),
)

FETCHES = _of(
    "fetch multi30k_en_de --quiet --folder made",
    ("another file of that name", "--archives archives", r"another file has its name: .* move it elsewhere"),
)

TRAINS = _of(
    "train --gpus 0 --folder run --protocol own.toml --arch admin --layers 2",
    ("no data", "--data absent", r"absent is not a folder"),
    ("no pair in it", "--data folder", r"folder.*(pair|dictionary)"),
    ("folder of its data-bin", "--data prep", r"prep holds no binarised pair .*; did you mean .*prep/data-bin\?"),
    ("depth 0", "--data data --layers 0", r"--layers 0: allowed is a number, such as 18"),
    ("heads", "--data data -- --encoder-attention-heads 7", r"7 do not divide .* use 1, 2, 4"),
    ("topology", "--data data -- --residual-topology prae", r"prae is not one of .*; did you mean pre\?"),
    ("widths apart", "--data data -- --decoder-embed-dim 32", r"embeddings needs one width"),
    (
        "overflow",
        "--data data --layers 900 -- --residual-topology pre --residual-scaling deepnorm",
        r"never normalises the stream",
    ),
    ("fp16 on a CPU", "--data data --precision fp16", r"fp16 needs a GPU: allowed on a CPU"),
    (
        "GPUs that are not",
        "--data data --gpus 64 --max-tokens 16",
        r"--gpus 64, but this machine has (\d+|no GPU that torch can use): pass --gpus \d+, or --dry-run",
    ),
    ("data-bin of version 7", "--data version7", r"\.idx is of version 7 .*binarise"),
    ("data-bin is text", "--data noindex", r"\.idx is no index of fairseq's.*binarise"),
    ("data-bin cut off", "--data cut", r"\.bin has [\d,]+ bytes, .*: it is cut off"),
    ("index cut off", "--data cutindex", r"\.idx has [\d,]+ bytes, and not [\d,]+ for its 2,000"),
    ("dictionary of another", "--data otherwords", r"holds word 1\d, but .*\.txt has 8"),
    ("no dictionary", "--data nowords", r"dict\.src\.txt: No such file"),
    ("dictionary is prose", "--data prosewords", r"dict\.src\.txt is no dictionary"),
    ("damaged prepare.json", "--data prep_cut/data-bin", r"prepare\.json is damaged: "),
    ("other subwords", "--data prep/data-bin --subwords moses_bpe", r"says sentencepiece"),
    ("damaged train.json", "--data data --folder damaged", r"train\.json exists, and nothing says .* or remove it"),
)

AVERAGES = _of(
    "average --output average.pt",
    ("missing", "absent.pt", r"absent\.pt: no such file; give checkpoints"),
    ("cut off", "good.pt cut.pt", r"cut\.pt: it is not a complete checkpoint.* it is cut off .*copy it again"),
    ("NaN", "good.pt nan.pt", r"nan\.pt: .* holds NaN or infinity; leave this checkpoint out"),
    ("another architecture", "good.pt pre.pt", r"pre\.pt is of another model than good\.pt: residual_topology is pre"),
    ("a parameter missing", "good.pt fewer.pt", r"fewer\.pt is of another model .* is nothing, there"),
    ("none of a folder", "folder --last 3", r"asked for 3 epoch checkpoints, found 0 in folder: none"),
    ("into the folder", "good.pt --output .", r"\. is a folder, and a file is needed"),
)

INSPECTIONS = _of(
    "inspect",
    ("empty", "empty", r"empty: it is not a complete checkpoint \(it is empty\)"),
    ("stock fairseq's", "stock.pt", r"stock\.pt holds a model of arch transformer, which is not of this package"),
    ("NaN", "nan.pt", r"nan\.pt holds NaN or infinity in decoder.*: the training diverged"),
    ("a parameter missing", "fewer.pt", r"fewer\.pt holds the weights of another model: it lacks decoder"),
    ("options of another", "deeper.pt", r"deeper\.pt holds the weights of another model: it lacks .* and \d+ more"),
    ("width 10^12 in it", "vast.pt", r"vast\.pt asks for a model larger than this machine's memory"),
)

TRANSLATIONS = _of(
    "translate --cpu --output out",
    ("no corpus", "good.pt", r"a data-bin that `prepare` has not made: pass --data DATA-BIN and --subwords"),
    ("no preparation", "good.pt --prepared folder", r"prepare\.json: no such file; `realformer-nmt prepare` writes"),
    ("half a prepare.json", "good.pt --prepared prep_half", r"prepare\.json has .*, got `null` - at `\$\.settings`"),
    ("input no UTF-8", "good.pt --data data --subwords none --input latin1", r"latin1, line 2: not UTF-8; convert"),
    ("another pair", "good.pt --data reverse --subwords none", r"good\.pt translates from src to tgt, and"),
    ("no model of the pieces", "good.pt --data data --subwords sentencepiece --input ok.en", r"pass --subwords-folder"),
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
    ("reference no UTF-8", "hyp --reference latin1", r"latin1, line 2: not UTF-8"),
    ("checkpoint gone", "hyp_gone --reference ok.de --bootstrap 0", r"gone\.pt: no such file"),
    (
        "another's record",
        "hyp --reference ok.de --training damaged/stages/text.json",
        r"no training: it has no sessions",
    ),
) + _of(
    "significance",
    ("no JSON", "ok.en a.json", r"ok\.en is damaged: "),
    ("other JSON", "grid.json a.json", r"grid\.json has no seal: it is no record of this package"),
)

GRIDS = _of(
    "compare --folder cells --prepared prep --plan",
    ("missing", "absent.toml", r"absent\.toml: No such file or directory; give a grid"),
    ("unknown key", "g_key.toml", r"g_key\.toml: key famlies is not one of .*did you mean families\?"),
    ("depth 0", "g_zero.toml", r"g_zero\.toml: layers 0: allowed is a number"),
    ("corpus twice said", "g_corpus.toml", r"--prepared prep, but g_corpus\.toml says corpus"),
    ("nested too deep", "deep.toml", r"deep\.toml: it is nested too deeply"),
) + _of(
    "compare grid.toml --folder cells",
    ("no preparation", "--prepared folder --plan", r"prepare\.json: no such file"),
    ("GPUs that are not", "--prepared prep --gpus 99", r"--gpus 99: .*\d+ GPUs|no GPU that torch can use"),
)

OTHERS = [
    Mistake("archs: no words", "archs --vocabulary 0", r"--vocabulary 0: allowed is 4 to 100,000,000"),
    Mistake("protocol: unknown", "protocol realfomer", r"realfomer is not one of .*mean realformer\?"),
    Mistake("updates: no data", "updates absent --max-tokens 9 --epochs 1", r"absent is not a folder"),
]

MISTAKES = [*TEXTS, *MANIFESTS, *FETCHES, *TRAINS, *AVERAGES, *INSPECTIONS, *TRANSLATIONS, *SCORES, *GRIDS, *OTHERS]

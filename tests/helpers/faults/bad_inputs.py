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
    ("unreadable", _train("unreadable ok.de"), r"unreadable: .*error"),
    ("a folder", _train("folder ok.de"), r"folder: Is a directory"),
    ("misaligned", _train("ok.en short.de"), r"ok\.en has 60 segments, but short\.de has 59: lines that are transl"),
    ("one side empty", _train("ok.en empty"), r"ok\.en has 60 segments, but empty has 0"),
    ("latin-1", _train("latin1 latin1"), r"latin1, line 2: invalid UTF-8; .*--invalid-utf8 replace"),
    ("UTF-16", _train("utf16 utf16"), r"utf16, line 1: invalid UTF-8"),
    ("binary", _train("binary ok.de"), r"binary, line \d: invalid UTF-8|binary has \d+ segments"),
    ("one line", _train("one.en one.de") + " --vocabulary 2000", r"cannot learn 2000 pieces: .*--vocabulary"),
    ("one letter, BPE", _train("letter letter") + " --subwords moses_bpe", r"hold no word of two letters, from which"),
    ("both validations", _train("ok.en ok.de") + " --held-out 2", r"give either --valid SOURCE TARGET or --held-out N"),
    ("a gigantic line", _train("gigantic gigantic"), r"no training pair is left of .*too_long.*: widen the length"),
    ("a gigantic word", _train("word word"), r"no training pair is left of .*long_word"),
    (
        "a line beyond memory",
        _train("bomb.gz bomb.gz"),
        r"bomb\.gz, line 1: longer than 67,108,864 bytes: check that it is a text",
    ),
    ("whitespace only", _train("spaces spaces"), r"no training pair is left of .*empty"),
    ("cut gzip", _train("cut.gz cut.gz"), r"cut\.gz: incomplete or damaged gzip file"),
    ("no gzip", _train("plain.gz plain.gz"), r"plain\.gz: incomplete or damaged gzip file"),
    ("valid empty", "ok.en ok.de --valid empty empty", r"no pair is left for valid of .*empty"),
    ("valid misaligned", "ok.en ok.de --valid ok.en short.de", r"short\.de has 59"),
    ("test missing", _train("ok.en ok.de") + " --test absent absent", r"absent: No such file"),
    ("test of white lines", _train("ok.en ok.de") + " --test empty empty", r"no pair is left for test"),
    ("no validation", "ok.en ok.de", r"give either --valid .* or --held-out N"),
    ("held out too rarely", "ok.en ok.de --held-out 1000", r"no pair is left for valid .*--held-out 1000"),
    ("held out all", "ok.en ok.de --held-out 1", r"--held-out 1: allowed is 2 or more"),
    ("lengths crossed", _train("ok.en ok.de") + " --min-length 9 --max-length 3", r"min = 9: allowed is 1 to max"),
    ("ratio below 1", _train("ok.en ok.de") + " --ratio 0.5", r"--ratio 0\.5: allowed is 1 or more"),
    ("ratio infinite", _train("ok.en ok.de") + " --ratio inf", r"--ratio inf: allowed is 1 or more, and finite"),
    ("ratio no number", _train("ok.en ok.de") + " --ratio nan", r"--ratio nan: allowed is 1 or more"),
    ("gigantic vocabulary", _train("ok.en ok.de") + " --vocabulary 99999999999999", r"allowed is 1 to 1,000,000"),
    ("too many processes", _train("ok.en ok.de") + " --workers 100000", r"--workers 100000: allowed is 1 to 1,024"),
    ("negative vocabulary", _train("ok.en ok.de") + " --vocabulary -5", r"--vocabulary -5: allowed is"),
    ("vocabulary too large", "ok.en ok.de --held-out 2 --vocabulary 90000", r"cannot learn 90000 pieces: "),
    ("no process", _train("ok.en ok.de") + " --workers 0", r"--workers 0: allowed is 1 to 1,024"),
    ("languages the other way", _train("ok.en ok.de") + " --source de --target en", r"ok\.en ok\.de: .*other order"),
    ("a link to itself", _train("itself ok.de"), r"itself: Too many levels of symbolic links"),
    ("one language", _train("ok.en ok.de") + " --target en", r"--source en and --target en: .* two different"),
    ("a path as language", _train("ok.en ok.de") + " --target ../de", r"'\.\./de' names no language: allowed are"),
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
    ("no TOML", "text.toml", r"text\.toml: .*line 1"),
    ("no UTF-8", "latin1.toml", r"latin1\.toml: .*utf-8"),
    ("unknown key", "key.toml", r"key\.toml: .*sauce is not one of .*did you mean source\?"),
    ("its own base", "ouroboros.toml", r"ouroboros\.toml is its own base"),
    ("nested too deep", "deep.toml", r"deep\.toml: it is nested too deeply"),
    ("outside its folder", "escape.toml", r"escape\.toml: .*is not archive:path with a path that stays in its folder"),
    ("not over http", "file.toml", r"file\.toml: .*http or https URLs"),
    ("no hash", "unhashed.toml", r"unhashed\.toml: .*sha256: allowed is this or md5"),
)

FETCHES = _of(
    "fetch multi30k_en_de --quiet --folder made",
    ("no such archives", "--archives absent", r"--archives absent is not a folder"),
    ("another file of that name", "--archives archives", r"another file has its name: .* move it elsewhere"),
)

TRAINS = _of(
    "train --gpus 0 --folder run --protocol own.toml --arch admin --layers 2",
    ("no data", "--data absent", r"absent is not a folder"),
    ("data is a file", "--data ok.en", r"ok\.en is not a folder"),
    ("no pair in it", "--data folder", r"folder.*(pair|dictionary)"),
    ("folder of its data-bin", "--data prep", r"prep holds no binarised pair .*; did you mean .*prep/data-bin\?"),
    ("unknown family", "--data data --arch realfomer --layers 2", r"realfomer is not one of .*mean realformer\?"),
    ("depth 0", "--data data --layers 0", r"--layers 0: allowed is a number, such as 18"),
    ("depth negative", "--data data --layers -3", r"--layers -3: allowed is a number"),
    ("depth 10,000", "--data data --layers 10000", r"--layers 10000: 10000 is more than 1000"),
    ("depth in words", "--data data --layers six", r"--layers six: allowed is a number"),
    ("heads", "--data data -- --encoder-attention-heads 7", r"7 do not divide .* use 1, 2, 4"),
    ("layerdrop", "--data data -- --decoder-layerdrop 0.1", r"layerdrop 0\.1 is not supported"),
    ("topology", "--data data -- --residual-topology prae", r"prae is not one of .*; did you mean pre\?"),
    ("score carry", "--data data -- --score-carry max", r"--score-carry max is not one of"),
    ("widths apart", "--data data -- --decoder-embed-dim 32", r"embeddings needs one width"),
    (
        "overflow",
        "--data data --layers 900 -- --residual-topology pre --residual-scaling deepnorm",
        r"never normalises the stream",
    ),
    ("no protocol", "--data data --protocol smal", r"smal is not one of .*mean small\?"),
    (
        "bad protocol",
        "--data data --protocol p_key.toml",
        r"p_key\.toml: key max_tokns is not .*max_tokens",
    ),
    ("its own base", "--data data --protocol loop.toml", r"loop\.toml names itself as base"),
    ("fp16 on a CPU", "--data data --precision fp16", r"fp16 needs a GPU: allowed on a CPU"),
    (
        "GPUs that are not",
        "--data data --gpus 64 --max-tokens 16",
        r"--gpus 64, but this machine has (\d+|no GPU that torch can use): pass --gpus \d+, or --dry-run",
    ),
    ("no epoch", "--data data --epochs 0", r"--epochs 0: allowed is 1 or more"),
    (
        "machines, no master",
        "--data data --nodes 2 --max-tokens 512",
        r"--nodes 2 need --master HOST:PORT",
    ),
    ("rank too high", "--data data --node-rank 5", r"--node-rank 5 of --nodes 1: allowed is 0 to 0"),
    ("step no multiple", "--data data --tokens-a-step 301", r"301 tokens a step are not"),
    ("no tokens", "--data data --max-tokens -4", r"--max-tokens -4: allowed is 1 or more"),
    ("data-bin of version 7", "--data version7", r"\.idx is of version 7 .*binarise"),
    ("data-bin is text", "--data noindex", r"\.idx is no index of fairseq's.*binarise"),
    ("data-bin cut off", "--data cut", r"\.bin has [\d,]+ bytes, .*: it is cut off"),
    ("index cut off", "--data cutindex", r"\.idx is cut off before the last of its 2,000"),
    ("dictionary of another", "--data otherwords", r"holds word 1\d, but .*\.txt has 8"),
    ("no dictionary", "--data nowords", r"dict\.src\.txt: No such file"),
    ("dictionary is binary", "--data binarywords", r"dict\.src\.txt is no dictionary"),
    ("dictionary is prose", "--data prosewords", r"dict\.src\.txt is no dictionary"),
    ("words twice", "--data twicewords", r"dict\.src\.txt is no dictionary.*[dD]uplicate"),
    ("damaged prepare.json", "--data prep_cut/data-bin", r"prepare\.json is damaged: "),
    ("foreign prepare.json", "--data prep_list/data-bin", r"json is damaged: .*object"),
    ("other subwords", "--data prep/data-bin --subwords moses_bpe", r"says sentencepiece"),
    ("damaged train.json", "--data data --folder damaged", r"train\.json exists, and nothing says .* or remove it"),
    ("unknown corpus", "--data data --corpus nope", r"--corpus nope is not one of"),
)

AVERAGES = _of(
    "average --output average.pt",
    ("missing", "absent.pt", r"absent\.pt: no such file; give checkpoints"),
    ("a text", "ok.en", r"ok\.en: it is not a complete checkpoint \(it has neither"),
    ("cut off", "good.pt cut.pt", r"cut\.pt: it is not a complete checkpoint.* it is cut off .*copy it again"),
    ("NaN", "good.pt nan.pt", r"nan\.pt: .* holds NaN or infinity; leave this checkpoint out"),
    ("another architecture", "good.pt pre.pt", r"pre\.pt is of another model than good\.pt: residual_topology is pre"),
    ("a parameter missing", "good.pt fewer.pt", r"fewer\.pt is of another model .* is nothing, there"),
    ("a parameter too many", "good.pt more.pt", r"more\.pt is of another model .*, there nothing"),
    ("of another dictionary", "good.pt words.pt", r"words\.pt is of another model .*embed_tokens"),
    ("no model in it", "list.pt", r"list\.pt holds no model"),
    ("weights that are text", "prose.pt", r"prose\.pt .*no tensor"),
    ("twice", "good.pt good.pt", r"good\.pt is given twice"),
    ("none of a folder", "folder --last 3", r"asked for 3 epoch checkpoints, found 0 in folder: none"),
    ("the last none", "folder --last 0", r"--last 0: allowed is 1 or more"),
    ("a file as folder", "good.pt --last 1", r"good\.pt is not a folder"),
    ("a link to itself", "itself", r"itself is a link to itself|itself: no such file"),
    ("into the folder", "good.pt --output .", r"\. is a folder, and a file is needed"),
    ("into a file's folder", "good.pt --output ok.en/average.pt", r"ok\.en is not a folder: name another one"),
)

INSPECTIONS = _of(
    "inspect",
    ("missing", "absent.pt", r"absent\.pt: no such file"),
    ("empty", "empty", r"empty: it is not a complete checkpoint \(it is empty\)"),
    ("a text", "ok.en", r"ok\.en: it is not a complete checkpoint"),
    ("cut off", "cut.pt", r"cut\.pt: it is not a complete checkpoint"),
    ("stock fairseq's", "stock.pt", r"stock\.pt holds a model of arch transformer, which is not of this package"),
    ("NaN", "nan.pt", r"nan\.pt holds NaN or infinity in decoder.*: the training diverged"),
    ("a parameter missing", "fewer.pt", r"fewer\.pt holds the weights of another model: it lacks decoder"),
    ("a parameter too many", "more.pt", r"more\.pt holds the weights of another model: it has decoder\.extra"),
    ("options of another", "deeper.pt", r"deeper\.pt holds the weights of another model: it lacks .* and \d+ more"),
    ("no training's", "list.pt", r"list\.pt holds no model"),
    ("depth 10,000 in it", "abyss.pt", r"abyss\.pt: --encoder-layers 10000 is more than 1000"),
    ("width 10^12 in it", "vast.pt", r"vast\.pt asks for a model larger than this machine's memory"),
)

TRANSLATIONS = _of(
    "translate --cpu --output out",
    ("no checkpoint", "absent.pt --data data --subwords none", r"absent\.pt: no such file"),
    ("no corpus", "good.pt", r"a data-bin that `prepare` has not made: pass --data DATA-BIN and --subwords"),
    ("data alone", "good.pt --data data", r"--subwords, one of sentencepiece, moses_bpe, none; or --prepared FOLDER"),
    ("no preparation", "good.pt --prepared folder", r"prepare\.json: no such file; `realformer-nmt prepare` writes"),
    ("both", "good.pt --prepared prep --data data", r"prepare\.json says the same as --data: pass one of the two"),
    ("damaged prepare.json", "good.pt --prepared prep_cut", r"prepare\.json is damaged"),
    ("half a prepare.json", "good.pt --prepared prep_half", r"prepare\.json has .*, got `null` - at `\$\.settings`"),
    ("wrong kinds in it", "good.pt --prepared prep_kinds", r"prepare\.json .* `str`, got `int` - at `\$\.source`"),
    ("no such subset", "good.pt --data data --subwords none --subset tset", r"no subset tset in src: there are test"),
    ("no input", "good.pt --data data --subwords none --input absent", r"absent: no such file"),
    ("input no UTF-8", "good.pt --data data --subwords none --input latin1", r"latin1, line 2: not UTF-8; convert"),
    ("input unreadable", "good.pt --data data --subwords none --input folder", r"folder is a folder: name a file"),
    ("another pair", "good.pt --data reverse --subwords none", r"good\.pt translates from src to tgt, and"),
    ("cut off", "cut.pt --data data --subwords none", r"cut\.pt: it is not a complete checkpoint"),
    ("depth 10,000 in it", "abyss.pt --data data --subwords none", r"abyss\.pt: --encoder-layers 10000 is more than"),
    ("width 10^12 in it", "vast.pt --data data --subwords none", r"vast\.pt asks for a model larger than"),
    ("hyphens without Moses", "good.pt --data data --subwords none --hyphens plain", r"leave --hyphens out"),
    ("no beam", "good.pt --data data --subwords none --beam 0", r"--beam 0: allowed is 1 to 1,000"),
    ("no batch", "good.pt --data data --subwords none --max-tokens -1", r"--max-tokens -1: allowed is 1 or more"),
    ("no length", "good.pt --data data --subwords none --max-len-b -2", r"--max-len-b -2: allowed is 0 to 10,000"),
    ("penalty no number", "good.pt --data data --subwords none --lenpen nan", r"--lenpen nan: allowed is a finite"),
    ("no model of the pieces", "good.pt --data data --subwords sentencepiece --input ok.en", r"pass --subwords-folder"),
    ("model of pieces gone", "good.pt --prepared prep --input ok.en", r"sentencepiece\.model: "),
)

SCORES = _of(
    "score --output run.json",
    ("no translation", "absent", r"translation\.json: no such file; `realformer-nmt translate` writes it"),
    ("damaged record", "hyp_cut", r"translation\.json is damaged: "),
    ("foreign record", "hyp_list", r"translation\.json is damaged: it holds no JSON object"),
    (
        "another version's",
        "hyp_half",
        r"translation\.json has an unexpected format: Object missing required field `files`",
    ),
    ("text was changed", "hyp_changed --reference ok.de", r"hypotheses\.txt is not what translation\.json describes"),
    ("reference missing", "hyp --reference absent", r"absent: no such file"),
    ("reference too short", "hyp --reference short.de", r"60 hypotheses and 59 references: they must be those of"),
    ("reference empty", "hyp --reference empty", r"60 hypotheses and 0 references"),
    ("reference no UTF-8", "hyp --reference latin1", r"latin1, line 2: not UTF-8"),
    ("no reference known", "hyp", r"pass --reference FILE"),
    ("unknown figures", "hyp --reference ok.de --published wmt41", r"--published wmt41 is not one of"),
    ("no seed", "hyp --reference ok.de --seed 0", r"--seed 0: allowed is 1 to 4,294,967,295"),
    ("negative samples", "hyp --reference ok.de --bootstrap -1", r"--bootstrap -1: allowed is 0, for none, or 40 to"),
    ("checkpoint gone", "hyp --reference ok.de --bootstrap 0", r"gone\.pt: no such file"),
    ("no such source", "hyp --reference ok.de --source absent", r"absent: no such file"),
    (
        "another's record",
        "hyp --reference ok.de --training damaged/stages/text.json",
        r"no training: it has no sessions",
    ),
    ("damaged training", "hyp --reference ok.de --training damaged/train.json", r"train\.json is damaged"),
) + _of(
    "significance",
    ("a run alone", "a.json", r"give two runs or more"),
    ("missing", "a.json absent.json", r"absent\.json: no such file; `realformer-nmt score` writes it"),
    ("no JSON", "ok.en a.json", r"ok\.en is damaged: "),
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
    ("no TOML", "text.toml", r"text\.toml: .*line 1"),
    ("no UTF-8", "latin1.toml", r"latin1\.toml: .*utf-8"),
    ("unknown key", "g_key.toml", r"g_key\.toml: key famlies is not one of .*did you mean families\?"),
    ("key twice", "g_keytwice.toml", r"g_keytwice\.toml: Cannot overwrite a value"),
    ("family twice", "g_twice.toml", r"g_twice\.toml: families: admin is named twice; name each once"),
    ("seed twice", "g_seeds.toml", r"g_seeds\.toml: seeds: 1 is named twice"),
    ("no speed", "grid.toml --tflops -1", r"--tflops -1\.0: allowed is a number above 0"),
    ("no cells", "g_none.toml", r"g_none\.toml: families: is empty, so nothing is compared"),
    ("depth 0", "g_zero.toml", r"g_zero\.toml: layers 0: allowed is a number"),
    ("depth 10,000", "g_deep.toml", r"g_deep\.toml: layers 10000: 10000 is more than 1000"),
    ("unknown family", "g_family.toml", r"g_family\.toml: family adm1n is not one of .*mean admin\?"),
    ("unknown metric", "g_metric.toml", r"g_metric\.toml: metric blue is not one of .*mean bleu\?"),
    ("no such baseline", "g_baseline.toml", r"g_baseline\.toml: baseline post_ln is not one of admin"),
    ("override of nothing", "g_override.toml", r"g_override\.toml: an override for .* matches no cell of this grid"),
    ("a word as seed", "g_word.toml", r"g_word\.toml: seeds\[0\]: allowed is a whole number, given was 'one'"),
    ("corpus twice said", "g_corpus.toml", r"--prepared prep, but g_corpus\.toml says corpus"),
    ("nested too deep", "deep.toml", r"deep\.toml: it is nested too deeply"),
    ("flag fairseq knows not", "g_flag.toml", r"g_flag\.toml: --lerning-rate may not be set in a file"),
) + _of(
    "compare grid.toml --folder cells",
    ("no preparation", "--prepared folder --plan", r"prepare\.json: no such file"),
    ("damaged prepare.json", "--prepared prep_cut --plan", r"prepare\.json is damaged"),
    ("GPUs that are not", "--prepared prep --gpus 99", r"--gpus 99: .*\d+ GPUs|no GPU that torch can use"),
    ("no job", "--prepared prep --jobs 0", r"--jobs 0: allowed is 1 to 1,024"),
)

OTHERS = [
    Mistake("archs: no words", "archs --vocabulary 0", r"--vocabulary 0: allowed is 4 to 100,000,000"),
    Mistake("protocol: unknown", "protocol realfomer", r"realfomer is not one of .*mean realformer\?"),
    Mistake("updates: no epoch", "updates data --max-tokens 9 --epochs 0", r"--epochs 0: allowed is 1 or more"),
    Mistake("updates: no data", "updates absent --max-tokens 9 --epochs 1", r"absent is not a folder"),
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

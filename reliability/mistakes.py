"""Mistaken commands by class of mistake; its test runs them in the folder that tests/helpers/faults/bad_files.py fills.

A row is `options | options : values`: each of the options takes each of the values, one command for each pair. A row
without values has whole commands, such as flags that do not go together.
"""

TRAIN = """data --arch realformer_tiny --optimizer adam --lr 0.001 --max-tokens 500 --max-update 1 --encoder-layers 1
    --decoder-layers 1 --share-all-embeddings --save-dir made --no-save --cpu --num-workers 0"""
BASES = {  # a row's own words come after these, and win; a name at its beginning takes the place of the first of them
    "fairseq-train": TRAIN,
    "fairseq-generate": "data --path good.pt --cpu --num-workers 0 --beam 1 --max-len-b 5",
    "fairseq-interactive": "data --path good.pt --cpu --input ok.en --beam 1",
    "fairseq-validate": "data --path good.pt --cpu --num-workers 0 --task translation --max-tokens 99",
    "fairseq-eval-lm": "data --path good.pt --cpu --num-workers 0",
    "fairseq-preprocess": "--source-lang en --target-lang de --trainpref ok --destdir made --workers 1",
    "realformer-nmt train": "--data data --folder run --arch admin --layers 2 --gpus 0 --protocol own.toml",
    "realformer-nmt updates": "data --max-tokens 100 --epochs 1",
    "realformer-nmt prepare": "--source en --target de --folder made --train ok.en ok.de --valid ok.en ok.de",
    "realformer-nmt average": "good.pt --output average.pt",
    "realformer-nmt translate": "good.pt --data data --subwords none --cpu --output out",
    "realformer-nmt score": "hyp --reference ok.de --output run.json",
    "realformer-nmt compare": "--folder cells --prepared prep --plan",
}

OUT_OF_RANGE = {  # numbers that train nonsense, or for ever; fairseq_options.py has each option's range
    "fairseq-train": """
        --dropout : 2 -0.1 nan inf
        --arch transformer --dropout | --suppress-crashes --dropout : 2
        --criterion label_smoothed_cross_entropy --label-smoothing : 1.5 nan
        --criterion label_smoothed_cross_entropy_fused --label-smoothing : 2
        --lr : nan inf -1 0.1,nan
        --max-tokens : 0 1 99999999999999999999
        --update-freq : 0 1,0
        --max-update 0 --max-epoch : 0
        --seed : -1 99999999999
        --num-workers : -1 99999999
        --adam-betas : (0.9,1.0) (0.9,nan)
        --optimizer radam --adam-betas : 0.9 (0.9,1.5)
        --lr-scheduler linear --warmup-updates : -1 9
        --lr-scheduler inverse_sqrt --warmup-updates : 0 -4
        --lr-scheduler polynomial_decay --total-num-update : 0
        --distributed-world-size : 0 100000
        --distributed-world-size 2 --distributed-rank : 5
        --distributed-world-size 2 --distributed-port : 99999
        --distributed-world-size 2 --distributed-backend tcp --distributed-port : -1
        --encoder-layers : 0 -1 99999
        --arch transformer --encoder-layers | --score-length : 0
        --encoder-embed-dim : 0 -64 63 99999999999999999999
        --encoder-attention-heads : 0 7
        --arch transformer --encoder-attention-heads | --decoder-attention-heads : 7
        --encoder-ffn-embed-dim : 0 9999999999999
        --score-length 99999999999 --score-source random
        --max-source-positions : 0 2 99999999999999
    """,
    "fairseq-generate": """
        --lenpen : nan inf
        --min-len : 500
        --max-len-b 0 --max-len-a 0 --min-len : 5
        --diverse-beam-groups 3 --beam : 4
        --max-tokens : 0 1
        --distributed-world-size 2 --distributed-rank : 7
    """,
    "fairseq-interactive": """
        --max-tokens 5 --buffer-size 3 --batch-size : 4
        --lenpen : nan
    """,
    "fairseq-validate": "--max-tokens : 0 1",
    "fairseq-eval-lm": "--max-tokens : 0",
    "fairseq-preprocess": "--workers : 0",
    "realformer-nmt train": """
        -- --max-tokens : 0 1
        -- --dropout : 2
        -- --lr : nan
    """,
}

WRONG_TYPE = {  # words or numbers of another form than the option's
    "fairseq-train": """
        --lr : , much
        --max-tokens : 1e3
        --update-freq | --max-valid-steps | --profile | --arch lstm --encoder-layers : x
        --adam-betas : 5 word (0.9,0.98,0.99)
        --optimizer radam --adam-betas : (0.9, __import__('os')
        --eval-bleu --eval-bleu-args : { []
        --eval-bleu --eval-bleu-detok-args : x
        --lr-scheduler linear --lr | --lr-scheduler inverse_sqrt --lr : 0.1,0.2
        --lr-scheduler reduce_lr_on_plateau --lr : 0.1,0.2
    """,
    "fairseq-generate": """
        --beam : two
        --model-overrides : {
        --skip-invalid-size-inputs-valid-test : maybe
    """,
    "fairseq-preprocess": "--workers | --nwordssrc | --thresholdsrc : x",
    "realformer-nmt": """
        protocol small --layers : x 6-
        protocol small_bert --layers : 6-6
        train --data= --folder run --arch admin --layers 2
    """,
    "realformer-nmt train": """
        --epochs 99999999999999999999 --max-tokens : x
        --master host --nodes 2 --max-tokens | --master host:99999 --nodes 2 --max-tokens : 2048
    """,
    "realformer-nmt average": "--output=",
}

UNKNOWN_NAME = {  # of parts, languages, splits and formats
    "fairseq-train": """
        --arch : realfomer realformer_huge
        --task : translatoin
        --criterion : nothing
        --score-source : dott dot+
        --source-lang : xx ../src
        --train-subset : trian test,train
        --valid-subset : vaild
        --dataset-impl : cached fasta huffman
        --scoring : blue
        --bpe : sentencpiece
        --tokenizer : mosess
        --simul-type : waitk
        --eval-bleu --eval-bleu-detok : mosses
        --distributed-world-size 2 --distributed-init-method nonsense://x --distributed-no-spawn
    """,
    "fairseq-generate": """
        --task | --tokenizer : nothing
        --remove-bpe --scoring : blue
        --constraints : sometimes
        --dataset-impl : fasta
        --gen-subset : ../test
        --source-lang xx --target-lang : yy
        --checkpoint-suffix : -shard0
    """,
    "fairseq-interactive": """
        --tokenizer : nothing
        --constraints : sometimes
        --source-lang : xx
    """,
    "fairseq-validate": """
        --task | --criterion : nothing
        --valid-subset : ,
    """,
    "fairseq-preprocess": """
        --task | --bpe : nothing
        --dataset-impl : fasta x
        --align-suffix : x
    """,
    "realformer-nmt": """
        nothing
        protocol small --corpus : nope
    """,
    "realformer-nmt train": """
        --precision : fp8
        -- --arch | -- --task | -- --lr-scheduler | -- --optimizer : nothing
        -- --source-lang : xx
    """,
    "realformer-nmt prepare": "--source : e/n $(x)",
    "realformer-nmt translate": "--subset : ../test",
}

MISSING_FILE = {
    "fairseq-train": """
        : absent
        --log-file : absent/train.log
        --restore-file | --finetune-from-model | --checkpoint-suffix /x --restore-file : absent.pt
        --share-all-embeddings --decoder-embed-path : absent
        --quantization-config-path : absent.yml
    """,
    "fairseq-generate": """
        : absent
        --path : absent.pt good.pt:absent.pt
        --fp16 --bf16 --path | --lm-path : absent.pt
        --gen-subset | --replace-unk | --bpe sentencepiece --sentencepiece-model : absent
        --bpe subword_nmt --bpe-codes : absent
    """,
    "fairseq-interactive": """
        : absent
        --input : absent
        --path : absent.pt
    """,
    "fairseq-validate": """
        : absent
        --path : absent.pt
        --valid-subset : absent
    """,
    "fairseq-eval-lm": """
        : absent
        --path : absent.pt
        --gen-subset : absent
    """,
    "fairseq-preprocess": """
        --trainpref : absent folder/x
        --srcdict | --srcdict data/dict.src.txt --tgtdict | --validpref | --testpref | --alignfile : absent
    """,
    "realformer-nmt": "protocol small --corpus : absent.toml",
    "realformer-nmt train": "-- --train-subset | -- --user-dir : absent",
}

WRONG_FILE = {  # damaged, of another kind, or in a place where none can be
    "fairseq-train": """
        : ok.en folder empty version7 noindex cut cutindex otherwords nowords binarywords prosewords twicewords
        : pipe co:lon good.pt /dev/null /proc ${oc.env:HOME} it's
        --restore-file : cut.pt nan.pt pre.pt list.pt prose.pt fewer.pt more.pt words.pt
        --save-dir : ok.en ok.en/x /proc/x /dev/null
        --log-file : folder ok.en/train.log
    """,
    "fairseq-generate": """
        : folder ok.en otherwords nowords co:lon
        cut --gen-subset | version7 --gen-subset : train
        --path : folder empty ok.en cut.pt nan.pt fewer.pt list.pt prose.pt words.pt abyss.pt pipe
        --path : co:lon.pt good.pt:words.pt good.pt,good.pt
        --lm-path : good.pt
        --results-path : ok.en /proc/x
    """,
    "fairseq-interactive": """
        : otherwords nowords ok.en
        --path : cut.pt prose.pt ok.en folder
        --input : folder latin1 utf16 binary
    """,
    "fairseq-validate": """
        : otherwords folder
        --path : cut.pt nan.pt words.pt folder pipe
    """,
    "fairseq-eval-lm": """
        : folder
        --path : good.pt cut.pt folder
    """,
    "fairseq-preprocess": """
        --trainpref : latin1
        --srcdict : binarywords/dict.src.txt prosewords/dict.src.txt
        --destdir : ok.en ok.en/x /proc/x
    """,
    "realformer-nmt": """
        inspect : folder pipe /dev/null prose.pt ok.en/x data/dict.src.txt
        fetch : folder pipe
        fetch --folder made : file.toml escape.toml latin1.toml
        fetch multi30k_en_de --folder | fetch multi30k_en_de --folder made --archives : ok.en
        prepare --folder made : folder
        prepare --source en --target de --folder made --train /dev/null /dev/null --held-out : 5
        prepare --source en --target de --folder made --train ok.en ok.de --held-out 5 --test pipe ok.de
        protocol : folder pipe latin1.toml deep.toml loop.toml grid.toml
        score --output run.json : folder ok.en pipe
        significance a.json : folder pipe ok.en empty
        significance hyp_list/translation.json a.json
    """,
    "realformer-nmt train": """
        --data : co:lon pipe
        --folder : ok.en /proc/x
        --protocol : pipe folder
    """,
    "realformer-nmt updates": ": cut cutindex noindex nowords ok.en folder pipe co:lon",
    "realformer-nmt prepare": """
        --folder : /dev/null ok.en/x /proc/x
        --train pipe ok.de | --valid folder ok.de
    """,
    "realformer-nmt average": """
        : folder pipe /dev/null
        --output : folder /proc/x ok.en/x
    """,
    "realformer-nmt translate": """
        : folder pipe nan.pt words.pt list.pt prose.pt abyss.pt
        --data : ok.en folder otherwords
        --data cut --subset | --data noindex --subset : train
        --output : ok.en /proc/x
        --input : folder utf16 binary
    """,
    "realformer-nmt score": """
        --reference : pipe folder binary
        --training : folder
        --output : folder ok.en/x /proc/x
    """,
    "realformer-nmt compare": """
        : folder pipe ok.en binary own.toml
        grid.toml --prepared : ok.en prep_list prep_kinds prep_half
    """,
}

NOT_TOGETHER = {  # possible each, but not with one another, with this model or on this machine
    "fairseq-train": """
        --fp16 | --memory-efficient-fp16 | --fp16 --bf16 | --on-cpu-convert-precision --fp16 | --tpu
        --optimizer adafactor --warmup-init | --pipeline-model-parallel | --cpu-offload
        --model-parallel-size : 2
        --ddp-backend : fully_sharded
        --lr-scheduler : tri_stage triangular
        --criterion : adaptive_loss ctc composite_loss
        --adaptive-softmax-cutoff : 5
        --arch : fconv transformer_lm realformer_lm_tiny multilingual_realformer
        --task : language_modeling translation_lev multilingual_translation translation_multi_simple_epoch
        --task question_answering --arch realformer_lm_tiny | --source-lang src --target-lang src
        --decoder-embed-dim : 32
        --share-all-embeddings --encoder-embed-dim : 128
        --restore-file good.pt --finetune-from-model good.pt | --finetune-from-model good.pt --reset-optimizer
    """,
    "fairseq-generate": """
        --print-step | --retain-iter-history --iter-decode-max-iter 3
        --scoring : bert_score
        --task : translation_lev
        --tokenizer moses --source-lang en --target-lang de
    """,
    "fairseq-interactive": "--bpe : sentencepiece",
    "fairseq-preprocess": """
        --srcdict data/dict.src.txt --joined-dictionary --tgtdict data/dict.tgt.txt
    """,
    "realformer-nmt train": """
        --arch transformer
        -- --arch : transformer
        -- --task : language_modeling translation_lev
        -- --memory-efficient-fp16 | -- --fp16
    """,
    "realformer-nmt compare": "grid.toml --status",
}

USAGE = {  # options and words that a command does not have, or lacks
    "fairseq-train": "--lerning-rate 1 | --max-tokens | --score-source | data data",
    "fairseq-generate": "--quiet --beem 4",
    "realformer-nmt": """
        --verzion | doctor now | install-engine --x | inspect | inspect good.pt good.pt | prepare multi30k_en_de
        prepare --folder made --train ok.en | prepare --folder made --train ok.en ok.de --valid ok.en ok.de
        average good.pt good.pt good.pt --output average.pt | translate good.pt | significance a.json
    """,
    "realformer-nmt train": "-- ok.en | -- --help",
}
CLASSES = (OUT_OF_RANGE, WRONG_TYPE, UNKNOWN_NAME, MISSING_FILE, WRONG_FILE, NOT_TOGETHER, USAGE)


def cases(rows: str) -> list[str]:
    """Return the own words of each command of a table's rows."""
    every = []
    for row in filter(None, map(str.strip, rows.splitlines())):
        options, _, values = f" {row} ".partition(" : ")
        every += [f"{option} {value}".strip() for option in options.split(" | ") for value in values.split() or [""]]
    return [" ".join(case.split()) for case in every]


def commands(beginning: str) -> list[tuple[str, list[str]]]:
    """Return the name and the argv of every mistaken command whose name has this beginning."""
    tables = [(command, rows) for table in CLASSES for command, rows in table.items() if command.startswith(beginning)]
    return [(f"{command} {case}", argv(command, case.split())) for command, rows in tables for case in cases(rows)]


def argv(command: str, words: list[str]) -> list[str]:
    """Return a command with its base; words that begin with a name take the place of the base's first."""
    base = BASES.get(command, "").split()
    if base and not words[0].startswith("-") and not base[0].startswith("-"):
        return [*command.split(), words[0], *base[1:], *words[1:]]
    return [*command.split(), *base, *words]

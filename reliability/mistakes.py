"""Mistaken commands, a line each; its test runs them in the folder that tests/helpers/bad_files.py fills."""

TRAIN = """data --arch realformer_tiny --optimizer adam --lr 0.001 --max-tokens 500 --max-update 1 --encoder-layers 1
    --decoder-layers 1 --share-all-embeddings --save-dir made --no-save --cpu --num-workers 0"""
BASES = {  # a line's own words come after these, and win
    "fairseq-train": TRAIN,
    "fairseq-generate": "data --path good.pt --cpu --num-workers 0 --beam 1 --max-len-b 5",
    "fairseq-interactive": "data --path good.pt --cpu --input ok.en --beam 1",
    "fairseq-validate": "data --path good.pt --cpu --num-workers 0 --task translation --max-tokens 99",
    "fairseq-eval-lm": "data --path good.pt --cpu --num-workers 0",
    "realformer-nmt train": "--data data --folder run --arch admin --layers 2 --gpus 0 --protocol own.toml",
    "realformer-nmt prepare": "--source en --target de --folder made --train ok.en ok.de --valid ok.en ok.de",
    "realformer-nmt translate": "good.pt --data data --subwords none --cpu --output out",
    "realformer-nmt compare": "--folder cells --prepared prep --plan",
    "fairseq-preprocess": "--source-lang en --target-lang de --trainpref ok --destdir made --workers 1",
}

FAIRSEQ = {
    # values that train nonsense, or for ever
    "fairseq-train": """
        --dropout 2
        --dropout 1
        --dropout -0.1
        --dropout nan
        --dropout inf
        --dropout half
        --attention-dropout 1.5
        --attention-dropout -1
        --activation-dropout 1
        --relu-dropout 7
        --encoder-layerdrop 0.5
        --criterion label_smoothed_cross_entropy --label-smoothing 1.5
        --criterion label_smoothed_cross_entropy --label-smoothing -0.1
        --criterion label_smoothed_cross_entropy --label-smoothing nan
        --criterion label_smoothed_cross_entropy_fused --label-smoothing 2
        --criterion label_smoothed_cross_entropy --ignore-prefix-size -1
        --criterion nothing
        --lr nan
        --lr inf
        --lr -1
        --lr 0.1,nan
        --lr ,
        --lr much
        --clip-norm nan
        --clip-norm -1
        --clip-norm inf
        --max-tokens 0
        --max-tokens -5
        --max-tokens 1
        --max-tokens 1e3
        --max-tokens 99999999999999999999
        --batch-size 0
        --batch-size -1
        --update-freq 0
        --update-freq -1
        --update-freq 1,0
        --update-freq x
        --max-update 0 --max-epoch 0
        --max-update 0
        --max-update -1
        --max-epoch -1
        --stop-time-hours -1
        --stop-time-hours nan
        --stop-min-lr nan
        --seed -1
        --seed 99999999999
        --seed one
        --log-interval 0
        --log-interval -1
        --log-format xml
        --log-file folder
        --log-file absent/train.log
        --log-file ok.en/train.log
        --save-interval 0
        --save-interval-updates -1
        --keep-last-epochs -7
        --validate-interval 0
        --patience -9
        --num-workers -1
        --num-workers 99999999
        --required-batch-size-multiple 0
        --required-seq-len-multiple 0
        --num-shards 0
        --data-buffer-size -1
        --optimizer radam --adam-betas 0.9
        --optimizer radam --adam-betas (0.9,1.5)
        --optimizer radam --adam-betas (0.9,
        --optimizer radam --adam-betas __import__('os')
        --adam-betas (0.9,1.0)
        --adam-betas (0.9,nan)
        --adam-betas 5
        --adam-betas word
        --adam-betas (0.9,0.98,0.99)
        --adam-eps -1
        --adam-eps nan
        --weight-decay nan
        --weight-decay -1
        --optimizer sgdd
        --optimizer sgd --momentum 2
        --optimizer adafactor --warmup-init
        --lr-scheduler lineer
        --lr-scheduler linear --warmup-updates -1
        --lr-scheduler linear --total-num-update -1
        --lr-scheduler linear --end-learning-rate nan
        --lr-scheduler linear --warmup-updates 9
        --lr-scheduler linear --lr 0.1,0.2
        --lr-scheduler inverse_sqrt --warmup-updates 0
        --lr-scheduler inverse_sqrt --warmup-updates -4
        --lr-scheduler inverse_sqrt --warmup-init-lr nan
        --lr-scheduler inverse_sqrt --lr 0.1,0.2
        --lr-scheduler polynomial_decay --total-num-update 0
        --lr-scheduler polynomial_decay --power nan
        --lr-scheduler cosine --max-update 1 --lr-shrink nan
        --lr-scheduler cosine --t-mult 0
        --lr-scheduler reduce_lr_on_plateau --lr 0.1,0.2
        --lr-scheduler tri_stage
        --lr-scheduler triangular
        --store-ema --ema-decay 2
        --store-ema --ema-decay nan
        --store-ema --ema-update-freq 0
        --fp16
        --memory-efficient-fp16
        --fp16 --bf16
        --tpu
        --distributed-world-size 0
        --distributed-world-size -2
        --distributed-world-size 2 --distributed-init-method nonsense://x --distributed-no-spawn
        --distributed-world-size 100000
        --distributed-world-size 2 --distributed-rank 5
        --distributed-world-size 2 --distributed-port 99999
        --distributed-world-size 2 --distributed-backend tcp --distributed-port -1
        --ddp-backend fully_sharded
        --ddp-backend dpp
        --pipeline-model-parallel
        --model-parallel-size 2
        --encoder-layers 0
        --encoder-layers -1
        --encoder-layers 99999
        --encoder-layers 1.5
        --encoder-embed-dim 0
        --encoder-embed-dim -64
        --encoder-embed-dim 63
        --decoder-embed-dim 32
        --encoder-attention-heads 0
        --encoder-attention-heads 7
        --decoder-attention-heads 7
        --encoder-ffn-embed-dim 0
        --encoder-ffn-embed-dim 9999999999999
        --encoder-embed-dim 99999999999999999999
        --score-length 0
        --score-length 99999999999 --score-source random
        --score-source dott
        --score-source dot+
        --score-source
        --score-carry sum+mean
        --residual-topology prae
        --residual-scaling deep
        --activation-fn rellu
        --max-source-positions 0
        --max-source-positions 2
        --max-target-positions -1
        --max-source-positions 99999999999999
        --arch realfomer
        --arch realformer_huge
        --arch transformer --dropout 2
        --arch transformer --encoder-attention-heads 7
        --arch transformer --encoder-layers 0
        --arch lstm --encoder-layers x
        --arch fconv
        --arch transformer_lm
        --arch realformer_lm_tiny
        --task question_answering --arch realformer_lm_tiny
        --arch multilingual_realformer
        --task translatoin
        --task language_modeling
        --task translation_lev
        --task multilingual_translation
        --task translation_multi_simple_epoch
        --source-lang xx
        --source-lang src --target-lang src
        --source-lang ../src
        --train-subset trian
        --train-subset test,train
        --valid-subset vaild
        --dataset-impl cached
        --dataset-impl fasta
        --dataset-impl huffman
        --upsample-primary -3
        --num-batch-buckets -1
        --eval-bleu --eval-bleu-args {
        --eval-bleu --eval-bleu-args []
        --eval-bleu --eval-bleu-args {"beam":0}
        --eval-bleu --eval-bleu-args {"bean":3}
        --eval-bleu --eval-bleu-detok mosses
        --eval-bleu --eval-bleu-detok-args x
        --scoring blue
        --bpe sentencpiece
        --tokenizer mosess
        --simul-type waitk
        --save-dir ok.en
        --save-dir ok.en/x
        --save-dir /proc/x
        --save-dir /dev/null
        --tensorboard-logdir ok.en
        --restore-file absent.pt
        --finetune-from-model absent.pt
        --restore-file good.pt --finetune-from-model good.pt
        --finetune-from-model good.pt --reset-optimizer
        --restore-file cut.pt
        --restore-file nan.pt
        --restore-file pre.pt
        --restore-file list.pt
        --restore-file prose.pt
        --restore-file fewer.pt
        --restore-file more.pt
        --restore-file words.pt
        --optimizer-overrides {
        --lerning-rate 1
        --max-tokens
        --share-all-embeddings --encoder-embed-dim 128
        --share-all-embeddings --decoder-embed-path absent
        --quantization-config-path absent.yml
        --profile x
        --empty-cache-freq -1
        --curriculum -1
        --heartbeat-timeout nan
        --fixed-validation-seed -3
        --checkpoint-suffix /x --restore-file absent.pt
        --suppress-crashes --dropout 2
        --bucket-cap-mb 0
        --criterion adaptive_loss
        --criterion ctc
        --criterion composite_loss
        --adaptive-softmax-cutoff 5
        --zero-sharding os
        --on-cpu-convert-precision --fp16
        --cpu-offload
        --max-valid-steps x
        absent
        ok.en
        folder
        empty
        version7
        noindex
        cut
        cutindex
        otherwords
        nowords
        binarywords
        prosewords
        twicewords
        pipe
        co:lon
        data data
        good.pt
        /dev/null
        /proc
        ${oc.env:HOME}
        it's
    """,
    "fairseq-generate": """
        --path absent.pt
        --path folder
        --path empty
        --path ok.en
        --path cut.pt
        --path nan.pt
        --path fewer.pt
        --path list.pt
        --path prose.pt
        --path good.pt:absent.pt
        --path pipe
        --path co:lon.pt
        --path good.pt,good.pt
        --path good.pt:words.pt
        --path words.pt
        --path abyss.pt
        --beam 0
        --beam -1
        --beam two
        --nbest 0
        --lenpen nan
        --lenpen inf
        --unkpen nan
        --temperature 0
        --temperature -1
        --temperature nan
        --sampling --sampling-topk -5
        --sampling --sampling-topp 2
        --sampling --sampling-topp nan
        --max-len-a -1
        --max-len-a nan
        --max-len-b -5
        --min-len -1
        --min-len 500
        --max-len-b 0 --max-len-a 0 --min-len 5
        --prefix-size -1
        --no-repeat-ngram-size -2
        --diverse-beam-groups 3 --beam 4
        --gen-subset absent
        --gen-subset ../test
        --results-path ok.en
        --results-path /proc/x
        --max-tokens 0
        --max-tokens 1
        --batch-size 0
        --max-sentences -4
        --num-shards 2 --shard-id 2
        --num-shards 0
        --shard-id -1
        --model-overrides {
        --model-overrides {'encoder_layers':5}
        --remove-bpe --scoring blue
        --scoring bert_score
        --bpe sentencepiece --sentencepiece-model absent
        --bpe subword_nmt --bpe-codes absent
        --tokenizer moses --source-lang en --target-lang de
        --tokenizer nothing
        --task translation_lev
        --task nothing
        --source-lang xx --target-lang yy
        --replace-unk absent
        --constraints
        --constraints sometimes
        --lm-path absent.pt
        --lm-path good.pt
        --print-step
        --retain-iter-history --iter-decode-max-iter 3
        --required-batch-size-multiple 0
        --seed -1
        --num-workers -2
        --fp16 --bf16 --path absent.pt
        --checkpoint-shard-count 2
        --checkpoint-suffix -shard0
        --dataset-impl fasta
        --quiet --beem 4
        --skip-invalid-size-inputs-valid-test maybe
        --distributed-world-size 2 --distributed-rank 7
        absent
        folder
        ok.en
        otherwords
        nowords
        cut --gen-subset train
        version7 --gen-subset train
        co:lon
    """,
    "fairseq-interactive": """
        --input absent
        --input folder
        --input latin1
        --input utf16
        --input binary
        --buffer-size -1
        --max-tokens 5 --buffer-size 3 --batch-size 4
        --batch-size 0
        --path absent.pt
        --path cut.pt
        --path prose.pt
        --path ok.en
        --path folder
        --beam 0
        --nbest 3
        --lenpen nan
        --tokenizer nothing
        --bpe sentencepiece
        --constraints sometimes
        --source-lang xx
        absent
        otherwords
        nowords
        ok.en
    """,
    "fairseq-validate": """
        --path absent.pt
        --path cut.pt
        --path nan.pt
        --path words.pt
        --path folder
        --path pipe
        --valid-subset absent
        --valid-subset ,
        --max-tokens 0
        --max-tokens 1
        --batch-size -1
        --task nothing
        --criterion nothing
        --num-workers -1
        --model-overrides {
        --model-overrides {'criterion':5}
        --log-interval 0
        --distributed-world-size 0
        absent
        otherwords
        cut --valid-subset train
        folder
    """,
    "fairseq-eval-lm": """
        --path absent.pt
        --path good.pt
        --path cut.pt
        --context-window -1
        --softmax-batch 0
        --gen-subset absent
        --max-tokens 0
        --path folder
        absent
        folder
    """,
    "fairseq-preprocess": """
        --trainpref absent
        --trainpref folder/x
        --trainpref latin1
        --workers 0
        --workers -3
        --workers x
        --nwordssrc x
        --srcdict absent
        --srcdict binarywords/dict.src.txt
        --srcdict prosewords/dict.src.txt
        --srcdict data/dict.src.txt --tgtdict absent
        --srcdict data/dict.src.txt --joined-dictionary --tgtdict data/dict.tgt.txt
        --destdir ok.en
        --destdir ok.en/x
        --destdir /proc/x
        --source-lang en --target-lang en
        --validpref absent
        --testpref absent
        --alignfile absent
        --padding-factor 0
        --dataset-impl fasta
        --dataset-impl x
        --task nothing
        --thresholdsrc x
        --bpe nothing
        --align-suffix x
    """,
}


OURS = {
    "realformer-nmt": """
        --verzion
        nothing
        doctor now
        doctor --jsn
        user-dir x
        install-engine --x
        archs --vocabulary 0
        archs --vocabulary -1
        archs --vocabulary 999999999999999999999
        archs --vocabulary 1e6
        archs --json x
        inspect
        inspect folder
        inspect pipe
        inspect /dev/null
        inspect prose.pt
        inspect ok.en/x
        inspect good.pt good.pt
        inspect data/dict.src.txt
        fetch
        fetch nothing
        fetch absent.toml
        fetch folder
        fetch pipe
        fetch multi30k_en_de --folder ok.en
        fetch multi30k_en_de --folder made --archives ok.en
        fetch file.toml --folder made
        fetch escape.toml --folder made
        fetch latin1.toml --folder made
        invent --folder made --pairs 0
        invent --folder made --pairs 99999999999
        invent --folder made --pairs -1
        invent --folder made --pairs x
        invent --folder ok.en
        invent --folder /proc/x
        invent --folder made --seed -1
        invent --folder=
        prepare
        prepare multi30k_en_de
        prepare nothing --folder made
        prepare folder --folder made
        prepare --folder made --train ok.en
        prepare --folder made --train ok.en ok.de --valid ok.en ok.de
        prepare --source en --target de --folder made --train pipe ok.de --valid ok.en ok.de
        prepare --source en --target de --folder made --train ok.en ok.de --valid folder ok.de
        prepare --source e/n --target de --folder made --train ok.en ok.de --valid ok.en ok.de
        prepare --source $(x) --target de --folder made --train ok.en ok.de --valid ok.en ok.de
        prepare --source en --target de --folder /dev/null --train ok.en ok.de --valid ok.en ok.de
        prepare --source en --target de --folder ok.en/x --train ok.en ok.de --valid ok.en ok.de
        prepare --source en --target de --folder /proc/x --train ok.en ok.de --valid ok.en ok.de
        prepare --source en --target de --folder made --train ok.en ok.de --held-out -5
        prepare --source en --target de --folder made --train /dev/null /dev/null --held-out 5
        prepare --source en --target de --folder made --train ok.en ok.de --held-out 5 --test pipe ok.de
        protocol
        protocol nothing
        protocol folder
        protocol pipe
        protocol absent.toml
        protocol latin1.toml
        protocol deep.toml
        protocol loop.toml
        protocol grid.toml
        protocol small --layers x
        protocol small --layers 6-
        protocol small --layers -3
        protocol small --layers 99999999999
        protocol small_bert --layers 6-6
        protocol small --corpus nope
        protocol small --corpus absent.toml
        train
        train --data data --folder run --arch transformer --layers 2 --gpus 0 --protocol own.toml
        train --data data --folder ok.en --arch admin --layers 2 --gpus 0 --protocol own.toml
        train --data data --folder /proc/x --arch admin --layers 2 --gpus 0 --protocol own.toml
        train --data co:lon --folder run --arch admin --layers 2 --gpus 0 --protocol own.toml
        train --data pipe --folder run --arch admin --layers 2 --gpus 0 --protocol own.toml
        train --data data --folder run --arch admin --layers 999999999999 --gpus 0 --protocol own.toml
        train --data data --folder run --arch admin --layers 2- --gpus 0 --protocol own.toml
        train --data data --folder run --arch admin --layers 2 --gpus -1 --protocol own.toml
        train --data data --folder run --arch admin --layers 2 --gpus 0 --nodes 99999999999 --protocol own.toml
        train --data data --folder run --arch admin --layers 2 --gpus 0 --protocol pipe
        train --data data --folder run --arch admin --layers 2 --gpus 0 --protocol folder
        train --data= --folder run --arch admin --layers 2
        updates data
        updates data --max-tokens 0 --epochs 1
        updates data --max-tokens 1 --epochs 1
        updates data --max-tokens 99999999999999999999 --epochs 1
        updates data --max-tokens 100 --epochs -1
        updates data --max-tokens 100 --epochs 1 --gpus 0
        updates data --max-tokens 100 --epochs 1 --update-freq 0
        updates cut --max-tokens 100 --epochs 1
        updates cutindex --max-tokens 100 --epochs 1
        updates noindex --max-tokens 100 --epochs 1
        updates nowords --max-tokens 100 --epochs 1
        updates ok.en --max-tokens 100 --epochs 1
        updates folder --max-tokens 100 --epochs 1
        updates pipe --max-tokens 100 --epochs 1
        updates co:lon --max-tokens 100 --epochs 1
        average
        average good.pt
        average --output average.pt
        average folder --output average.pt
        average pipe --output average.pt
        average good.pt --output folder
        average good.pt --output /proc/x
        average good.pt --output ok.en/x
        average good.pt --output=
        average folder --last -1 --output average.pt
        average folder --last 99999999999999999999 --output average.pt
        average folder --best 3 --output average.pt
        average absent --last 1 --output average.pt
        average /dev/null --output average.pt
        average good.pt good.pt good.pt --output average.pt
        average data --last 1 --output average.pt
        translate
        translate good.pt
        translate good.pt --data data --subwords none --cpu
        translate folder --data data --subwords none --cpu --output out
        translate pipe --data data --subwords none --cpu --output out
        translate good.pt --data absent --subwords none --cpu --output out
        translate good.pt --data ok.en --subwords none --cpu --output out
        translate good.pt --data folder --subwords none --cpu --output out
        translate good.pt --data cut --subwords none --cpu --output out --subset train
        translate good.pt --data noindex --subwords none --cpu --output out --subset train
        translate good.pt --data otherwords --subwords none --cpu --output out
        translate good.pt --data data --subwords nothing --cpu --output out
        translate good.pt --data data --subwords none --cpu --output ok.en
        translate good.pt --data data --subwords none --cpu --output /proc/x
        translate good.pt absent.pt --data data --subwords none --cpu --output out
        translate nan.pt --data data --subwords none --cpu --output out
        translate words.pt --data data --subwords none --cpu --output out
        translate list.pt --data data --subwords none --cpu --output out
        translate prose.pt --data data --subwords none --cpu --output out
        translate abyss.pt --data data --subwords none --cpu --output out
        score
        score folder --output run.json
        score ok.en --output run.json
        score pipe --output run.json
        score hyp --reference pipe --output run.json
        score hyp --reference folder --output run.json
        score hyp --reference ok.de --output folder
        score hyp --reference ok.de --output ok.en/x
        score hyp --reference ok.de --output /proc/x
        score hyp --reference ok.de --bootstrap 99999999999999 --output run.json
        score hyp --reference ok.de --seed -1 --output run.json
        score hyp --reference ok.de --training absent --output run.json
        score hyp --reference ok.de --training folder --output run.json
        score hyp --reference ok.de --published nothing --output run.json
        score hyp --reference binary --output run.json
        significance
        significance a.json
        significance a.json folder
        significance a.json pipe
        significance a.json ok.en
        significance a.json b.json --samples 0
        significance a.json b.json --seed -1
        significance a.json empty
        significance hyp_list/translation.json a.json
        compare
        compare grid.toml --folder cells --prepared ok.en --plan
        compare grid.toml --folder cells --prepared absent --plan
        compare grid.toml --folder cells --prepared prep_list --plan
        compare grid.toml --folder cells --prepared prep_kinds --plan
        compare grid.toml --folder cells --prepared prep_half --plan
        compare grid.toml --folder cells --prepared prep --jobs -1 --plan
        compare grid.toml --folder cells --prepared prep --gpus -1
        compare grid.toml --folder cells --prepared prep --gpus 99999999999999999999
        compare grid.toml --folder cells --prepared prep --plan --status
    """,
    "realformer-nmt train": """
        -- --arch transformer
        -- --arch nothing
        -- --dropout 2
        -- --lr nan
        -- --max-epoch -1
        -- --update-freq 0
        -- --max-tokens 0
        -- --max-tokens 1
        -- --train-subset absent
        -- --task nothing
        -- --task language_modeling
        -- --task translation_lev
        -- --source-lang xx
        -- --memory-efficient-fp16
        -- --fp16
        -- ok.en
        -- --user-dir absent
        -- --lr-scheduler nothing
        -- --optimizer nothing
        -- --warmup-updates -3
        -- --required-batch-size-multiple 0
        -- --help
        --epochs 99999999999999999999 --max-tokens x
        --updates 0
        --average 0
        --max-tokens 99999999999999999999
        --tokens-a-step 0
        --tokens-a-step 99999999999999999999
        --precision fp8
        --master host --nodes 2 --max-tokens 2048
        --master host:99999 --nodes 2 --max-tokens 2048
    """,
    "realformer-nmt prepare": """
        --workers 99999999999
        --vocabulary 0
        --vocabulary 99999999999999
        --subwords nothing
        --ratio nan
        --ratio inf
        --max-length 0
        --max-length 99999999999999999999
        --invalid-utf8 maybe
    """,
    "realformer-nmt translate": """
        --subset ../test
        --beam 99999999999999999999
        --lenpen inf
        --max-tokens 0
        --max-len-a nan
        --max-len-a -1
        --input folder
        --input utf16
        --input binary
    """,
    "realformer-nmt compare": """
        absent.toml
        folder
        pipe
        ok.en
        binary
        own.toml
        odd1.toml
        odd2.toml
        odd3.toml
        odd4.toml
        odd5.toml
        odd6.toml
        odd7.toml
        odd8.toml
        odd9.toml
        odd10.toml
        odd11.toml
        odd12.toml
        odd13.toml
        odd14.toml
        odd15.toml
        odd16.toml
    """,
}


SOUND = 'families = ["admin"]\nlayers = ["2"]\nprotocol = "own.toml"\n'
GRIDS = {  # by the names under which `compare` is given them above
    "odd1.toml": 'families = "admin"\nlayers = ["2"]\nprotocol = "own.toml"\n',
    "odd2.toml": 'families = ["admin"]\nlayers = "2"\nprotocol = "own.toml"\n',
    "odd3.toml": 'families = ["admin"]\nlayers = [2]\nprotocol = "own.toml"\n',
    "odd4.toml": f"{SOUND}seeds = [-1]\n",
    "odd5.toml": f"{SOUND}seeds = [99999999999999999999]\n",
    "odd6.toml": f"{SOUND}seeds = []\n",
    "odd7.toml": f"{SOUND}[train]\ndropout = 2\n",
    "odd8.toml": f'{SOUND}[train]\narch = "transformer"\n',
    "odd9.toml": f"{SOUND}[train]\nlr = nan\n",
    "odd10.toml": f"{SOUND}epochs = 0\n",
    "odd11.toml": f"{SOUND}updates = -4\n",
    "odd12.toml": f"{SOUND}[train]\ndropout = [1, 2]\n",
    "odd13.toml": f"{SOUND}average = 0\n",
    "odd14.toml": 'families = ["admin"]\nlayers = ["2"]\nprotocol = "folder"\n',
    "odd15.toml": f'{SOUND}[[override]]\nfamily = "admin"\n[override.train]\nmax-tokens = 0\n',
    "odd16.toml": f'{SOUND}[train]\n"" = 1\n',
}


def commands(table: dict[str, str]) -> list[tuple[str, list[str]]]:
    """What each line is called, and its words; a line that begins with a name takes the place of its base's first."""
    made = []
    for command, lines in table.items():
        program, *words = command.split()
        base = BASES.get(command, "").split()
        for line in map(str.strip, lines.strip().splitlines()):
            own = line.split()
            named = not own[0].startswith("-") and bool(base) and not base[0].startswith("-")
            given = [own[0], *base[1:], *own[1:]] if named else [*base, *own]
            made.append((f"{command} {line}", [program, *words, *given]))
    return made

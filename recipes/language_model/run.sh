#!/usr/bin/env bash
# Language models of several families and depths: run.sh [FOLDER] [UPDATES] [FAMILY...]. The same command goes on.
set -euo pipefail
folder=${1:-language_model} updates=${2:-400} families=("${@:3}")
[[ ${families[*]} ]] || families=(post_ln pre_ln realformer)
user_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../realformer_nmt" && pwd)
text=$folder/text data=$folder/data-bin
common=("$data" --user-dir "$user_dir" --cpu --num-workers 0 --task language_modeling --tokens-per-sample 64)
common+=(--sample-break-mode eos --max-tokens 2000)

train() {  # RUN FAMILY LAYERS
    fairseq-train "${common[@]}" --save-dir "$1" --arch "$2_lm_tiny" --decoder-layers "$3" --max-update "$updates" \
        --decoder-ffn-embed-dim 256 --share-decoder-input-output-embed --dropout 0.1 --optimizer radam --lr 0.002 \
        --lr-scheduler linear --warmup-updates $((updates / 5)) --total-num-update "$updates" --clip-norm 1 --seed 1 \
        --update-epoch-batch-itr 1 --no-epoch-checkpoints --log-interval 50
}
[[ -e $text/train.en ]] || realformer-nmt invent --folder "$text" --seed 1
[[ -e $data/test.idx ]] || fairseq-preprocess --user-dir "$user_dir" --only-source --destdir "$data" --thresholdsrc 2 \
    --trainpref "$text/train.en" --validpref "$text/valid.en" --testpref "$text/test.en"
for layers in 4 24; do
    for family in "${families[@]}"; do
        run=$folder/$family-$layers-$updates
        train "$run" "$family" "$layers"
        realformer-nmt evaluate "$run" --data "$data" --cpu --output "$run/test.json"
    done
done
grep --with-filename perplexity "$folder"/*/test.json

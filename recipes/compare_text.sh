#!/usr/bin/env bash
# What recipes of one text share: compare_text.sh GRID.toml FOLDER makes up a text, binarises it and compares.
set -euo pipefail
text=$2/text data=$2/data-bin user_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../realformer_nmt" && pwd)
[[ -e $text/train.en ]] || python "$(dirname "${BASH_SOURCE[0]}")"/quickstart/corpus.py --folder "$text" --seed 1
[[ -e $data/test.idx ]] || {  # which is written last: version 0.3.0 filled the folder under its own name
    [[ ! -e $data ]] || mv "$data" "$data.$(date +%s)"
    rm -rf "$data.part"  # of a run that was killed: fairseq-preprocess refuses a folder that holds a dictionary
    fairseq-preprocess --user-dir "$user_dir" --only-source --thresholdsrc 2 --destdir "$data.part" \
        --trainpref "$text/train.en" --validpref "$text/valid.en" --testpref "$text/test.en"
    mv "$data.part" "$data"
}
exec realformer-nmt compare "$1" --prepared "$data" --folder "$2" --gpus 0

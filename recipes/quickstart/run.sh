#!/usr/bin/env bash
# Five architectures at two depths on a corpus made up on the spot: run.sh [FOLDER [GRID]]. The same command resumes.
set -euo pipefail
folder=${1:-demo} grid=${2:-$(dirname "${BASH_SOURCE[0]}")/grid.toml}
text=$folder/text data=$folder/data
[[ -e $text/train.de ]] || python "$(dirname "${BASH_SOURCE[0]}")"/corpus.py --folder "$text" --train 16000 --valid 200 --test 500 --seed 1
[[ -e $data/prepare.json ]] || realformer-nmt prepare --source en --target de --folder "$data" --vocabulary 1200 \
    --train "$text"/train.{en,de} --valid "$text"/valid.{en,de} --test "$text"/test.{en,de} --quiet
exec realformer-nmt compare "$grid" --prepared "$data" --folder "$folder" --gpus 0 --jobs "$(nproc)"

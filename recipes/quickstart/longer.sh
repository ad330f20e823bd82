#!/usr/bin/env bash
# 18 layers at three budgets: longer.sh [FOLDER]. The same command resumes.
set -euo pipefail
grid=$(dirname "${BASH_SOURCE[0]}")/longer.toml folder=${1:-demo-longer}
text=$folder/text data=$folder/data
[[ -e $text/train.de ]] ||
    python "$(dirname "${BASH_SOURCE[0]}")"/corpus.py --folder "$text" --train 40000 --valid 300 --test 1000 --seed 1
[[ -e $data/prepare.json ]] || realformer-nmt prepare --source en --target de --folder "$data" --vocabulary 1200 \
    --train "$text"/train.{en,de} --valid "$text"/valid.{en,de} --test "$text"/test.{en,de} --quiet
exec realformer-nmt compare "$grid" --prepared "$data" --folder "$folder" --gpus 0 --jobs "$(nproc)"

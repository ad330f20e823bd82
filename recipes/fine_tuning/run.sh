#!/usr/bin/env bash
# A model of the quickstart trained on with longer sentences of other words: run.sh DEMO [FOLDER]. The same command resumes.
set -euo pipefail
demo=${1:?give the folder of make demo} folder=${2:-fine_tuning}
text=$folder/text data=$folder/data own=$folder/own_data before=$demo/cells/realformer-6-s1
corpus=$(dirname "${BASH_SOURCE[0]}")/../quickstart/corpus.py
[[ -e $text/train.de ]] || python "$corpus" --folder "$text" --hard --train 4000 --valid 200 --test 500 --seed 2
texts=(--train "$text"/train.{en,de} --valid "$text"/valid.{en,de} --test "$text"/test.{en,de} --quiet)

realformer-nmt prepare --like "$demo/data" --folder "$data" "${texts[@]}"
realformer-nmt prepare --source en --target de --vocabulary 1200 --folder "$own" "${texts[@]}"
train() {  # NAME DATA OPTION...
    realformer-nmt train --data "$2/data-bin" --arch realformer --layers 6 --protocol quickstart --gpus 0 --updates 400 \
        --average 1 --folder "$folder/$1" "${@:3}" -- --lr 1e-3 --warmup-updates 50 --num-workers 0
}
train tuned "$data" --from "$before"
train scratch "$data"
train carried "$own" --from "$before" --carry-embeddings "$demo/data/data-bin"
train own_scratch "$own"

score() {  # NAME RUN DATA
    realformer-nmt translate "$2" --prepared "$3" --beam 4 --cpu --output "$folder/$1"
    realformer-nmt score "$folder/$1" --output "$folder/$1.json"
}
score before "$before" "$data"
score after "$folder/tuned" "$data"
score alone "$folder/scratch" "$data"
score own_after "$folder/carried" "$own"
score own_alone "$folder/own_scratch" "$own"
score before_at_home "$before" "$demo/data"
score after_at_home "$folder/tuned" "$demo/data"
realformer-nmt significance "$folder"/{before,after,alone}.json --output "$folder/significance.json"
realformer-nmt significance "$folder"/{own_alone,own_after}.json --output "$folder/significance_own_vocabulary.json"
realformer-nmt significance "$folder"/{before,after}_at_home.json --output "$folder/significance_at_home.json"

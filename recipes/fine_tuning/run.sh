#!/usr/bin/env bash
# A model of the quickstart trained on with longer sentences of other words: run.sh DEMO [FOLDER]. The same command goes on.
set -euo pipefail
demo=${1:?give the folder of make demo} folder=${2:-fine_tuning}
text=$folder/text data=$folder/data before=$demo/cells/realformer-6-s1
[[ -e $text/train.de ]] || realformer-nmt invent --folder "$text" --hard --pairs 4000 --valid 200 --test 500 --seed 2

realformer-nmt prepare --like "$demo/data" --folder "$data" --train "$text"/train.{en,de} --valid "$text"/valid.{en,de} \
    --test "$text"/test.{en,de} --quiet
train=(realformer-nmt train --data "$data/data-bin" --arch realformer --layers 6 --protocol quickstart --gpus 0
    --updates 400 --average 1)
flags=(--lr 1e-3 --warmup-updates 50 --num-workers 0)
"${train[@]}" --folder "$folder/tuned" --from "$before" -- "${flags[@]}"
"${train[@]}" --folder "$folder/scratch" -- "${flags[@]}"

score() {  # NAME RUN DATA
    realformer-nmt translate "$2" --prepared "$3" --beam 4 --cpu --output "$folder/$1"
    realformer-nmt score "$folder/$1" --output "$folder/$1.json"
}
score before "$before" "$data"
score after "$folder/tuned" "$data"
score alone "$folder/scratch" "$data"
score before_at_home "$before" "$demo/data"
score after_at_home "$folder/tuned" "$demo/data"
realformer-nmt significance "$folder"/{before,after,alone}.json --output "$folder/significance.json"
realformer-nmt significance "$folder"/{before,after}_at_home.json --output "$folder/significance_at_home.json"

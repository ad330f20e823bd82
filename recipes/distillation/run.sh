#!/usr/bin/env bash
# Models of the quickstart teach one with a shallow decoder: run.sh DEMO [FOLDER] [UPDATES] [LAYERS] [TEACHER...].
# The same command resumes.
set -euo pipefail
demo=${1:?give the folder of make demo} folder=${2:-distillation} updates=${3:-750} layers=${4:-12-1} teachers=("${@:5}")
[[ ${teachers[*]} ]] || teachers=("$demo"/cells/{pre_ln,admin,realformer}-6-s1)
text=$demo/text data=$demo/data

translate() {  # MODEL... OPTION...
    realformer-nmt translate "$@" --prepared "$data" --beam 4 --cpu
}
train() {  # RUN DATA
    realformer-nmt train --data "$2/data-bin" --arch realformer --layers "$layers" --protocol quickstart --gpus 0 \
        --folder "$1" --updates "$updates" --average 1 -- --num-workers 0
}
score() {  # NAME MODEL...
    translate "${@:2}" --output "$folder/$1_test"
    realformer-nmt score "$folder/$1_test" --output "$folder/$1.json"
}
# What the teachers say of the text that they were trained on
translate "${teachers[@]}" --input "$text/train.en" --jobs "$(nproc)" --max-tokens 2000 --output "$folder/said"
realformer-nmt prepare --like "$data" --train "$text/train.en" "$folder/said/hypotheses.txt" --valid "$text"/valid.{en,de} \
    --test "$text"/test.{en,de} --quiet --folder "$folder/data"
train "$folder/taught" "$folder/data"
train "$folder/untaught" "$data"
score teachers "${teachers[@]}"
score taught "$folder/taught"
score untaught "$folder/untaught"
realformer-nmt significance "$folder"/{untaught,taught,teachers}.json --output "$folder/significance.json"

#!/usr/bin/env bash
# Few of the quickstart's pairs, and the German of the rest translated back: run.sh DEMO [FOLDER] [PAIRS].
# The same command resumes.
set -euo pipefail
demo=${1:?give the folder of make demo} folder=${2:-back_translation} pairs=${3:-1000} text=$demo/text
held_out=(--valid "$text"/valid.{en,de} --test "$text"/test.{en,de} --quiet)
mkdir -p "$folder"
head -n "$pairs" "$text/train.en" > "$folder/pairs.en"
head -n "$pairs" "$text/train.de" > "$folder/pairs.de"
tail -n +"$((pairs + 1))" "$text/train.de" > "$folder/alone.de"

train() {  # RUN DATA UPDATES
    realformer-nmt train --data "$2/data-bin" --arch realformer --layers 6 --protocol quickstart --gpus 0 --folder "$1" \
        --updates "$3" --average 1 -- --num-workers 0
}
score() {  # RUN DATA
    realformer-nmt translate "$1" --prepared "$2" --beam 4 --cpu --output "$1/test"
    realformer-nmt score "$1/test" --output "$1.json"
}
# From German to English, by the pairs that there are
realformer-nmt prepare --source de --target en --train "$folder"/pairs.{de,en} --valid "$text"/valid.{de,en} \
    --test "$text"/test.{de,en} --vocabulary 1200 --folder "$folder/reverse_data" --quiet
train "$folder/reverse" "$folder/reverse_data" 500
realformer-nmt translate "$folder/reverse" --prepared "$folder/reverse_data" --input "$folder/alone.de" --beam 4 --cpu \
    --jobs "$(nproc)" --max-tokens 2000 --output "$folder/back"
sed 's/^/<BT> /' "$folder/back/hypotheses.txt" > "$folder/back.en"

realformer-nmt prepare --source en --target de --train "$folder"/pairs.{en,de} --train "$folder"/{back.en,alone.de} \
    "${held_out[@]}" --vocabulary 1200 --folder "$folder/data"
realformer-nmt prepare --like "$folder/data" --train "$folder"/pairs.{en,de} "${held_out[@]}" --folder "$folder/pairs_data"
train "$folder/with" "$folder/data" 750
train "$folder/without" "$folder/pairs_data" 750
score "$folder/with" "$folder/data"
score "$folder/without" "$folder/pairs_data"
realformer-nmt significance "$folder"/{without,with}.json --output "$folder/significance.json"

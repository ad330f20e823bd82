#!/usr/bin/env bash
# From an empty folder to a scored test set; recipes/*/run.sh say the corpus.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: run.sh --layers N|N-M --folder DIR [options] [-- flags of fairseq-train]
  --arch FAMILY --layers 18 --protocol NAME   what is trained, and how (`realformer-nmt archs`, `... protocol NAME`)
  --folder DIR         data/ and a folder for each model are made in it; what is there already is not done again
  --archives DIR       archives that you have; the others are downloaded
  --corpus FILE.toml   another manifest
  --subwords METHOD --vocabulary N --workers N                 of `realformer-nmt prepare`
  --gpus N --nodes N --node-rank N --master HOST:PORT --max-tokens N --tokens-a-step N
  --epochs N --updates N --precision fp16|bf16|fp32 --bf16 --tensorboard   of `realformer-nmt train`
  --average N          checkpoints to average, other than the protocol's
  --stage STAGE        this one alone: prepare, train, average, translate or score
  --stop-after STAGE   all up to this one
  --dry-run            print every command, ready to paste; the one of the stage train, and fairseq-train's below it
TEXT
}

corpus=$1 && shift
arch=realformer layers='' protocol=realformer subwords=moses_bpe folder='' only='' last='' dry='' said=''
prepare=() train=() averaging=() decoding=() stages=" prepare train average translate score "
while [[ $# -gt 0 && $1 != -- ]]; do
    number=2
    case $1 in
        --help | -h) usage && exit 0 ;;
        --dry-run) dry=yes number=1 ;;
        --bf16 | --tensorboard) train+=("$1") && number=1 ;;
        --*) [[ $# -gt 1 ]] || { echo "$1 needs a value" >&2 && exit 2; } ;;&
        --arch) arch=$2 ;;
        --layers) layers=$2 ;;
        --protocol) protocol=$2 ;;
        --subwords) subwords=$2 ;;
        --folder) folder=$2 ;;
        --corpus) corpus=$2 ;;
        --stage) only=$2 ;;
        --stop-after) last=$2 ;;
        --archives | --vocabulary | --workers) prepare+=("$1" "$2") ;;
        --average) averaging=(--last "$2") train+=("$1" "$2") ;;
        --gpus | --nodes | --node-rank | --master | --max-tokens | --tokens-a-step | --epochs | --updates | --precision)
            train+=("$1" "$2") ;;
        *) echo "unknown option $1; --help lists them" >&2 && exit 2 ;;
    esac
    shift "$number"
done
[[ ! $only || ! $last ]] || { echo "give --stage or --stop-after, not both" >&2 && exit 2; }
[[ $folder && ($layers || ${only:-$last} == prepare) ]] || { usage >&2 && exit 2; }
[[ $stages == *" ${only:-${last:-score}} "* ]] || { echo "stages are$stages" >&2 && exit 2; }
name=$(basename "$corpus" .toml) data=$folder/data run=$folder/$arch-$layers

do_it() {
    printf '%q ' "$@" && echo
    [[ $dry ]] || "$@"
}

there() { # STAGE FILE, which the stage writes last
    [[ -e $2 && ! $dry ]] && echo "$1: $2 is there"
}

ask_protocol() {
    [[ ! $said ]] || return 0
    said=$(realformer-nmt protocol "$protocol" --corpus "$name" --layers "$layers" --options)
    [[ ${averaging[*]} ]] || read -ra averaging <<<"$said"
    read -ra decoding <<<"${said#*$'\n'}"
}

stage_prepare() { do_it realformer-nmt prepare "$corpus" --folder "$data" --subwords "$subwords" "${prepare[@]}"; }

stage_train() {
    local words=(realformer-nmt train --data "$data/data-bin" --folder "$run" --arch "$arch" --layers "$layers"
        --protocol "$protocol" --corpus "$name" --subwords "$subwords" "${train[@]}")
    do_it "${words[@]}" "$@"
    [[ ! $dry ]] || "${words[@]}" --dry-run "$@"
}

stage_average() {
    there average "$run/average.pt" && return
    ask_protocol
    do_it realformer-nmt average "$run/checkpoints" "${averaging[@]}" --output "$run/average.pt"
}

stage_translate() {
    there translate "$run/translation/translation.json" && return
    ask_protocol
    do_it realformer-nmt translate "$run/average.pt" \
        --prepared "$data" "${decoding[@]}" --validate --output "$run/translation"
}

stage_score() {
    there score "$run/run.json" && return
    do_it realformer-nmt score "$run/translation" --training "$run/train.json" --output "$run/run.json"
}

for stage in $stages; do
    [[ $only && $stage != "$only" ]] || "stage_$stage" "$@"
    [[ $stage != "$last" ]] || break
done

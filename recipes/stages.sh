#!/usr/bin/env bash
# From an empty folder to a scored test set; recipes/*/run.sh say the corpus.
set -euo pipefail

usage() { cat "$(dirname "${BASH_SOURCE[0]}")/usage.txt"; }
refuse() { echo "run.sh: $*; --help lists the options" >&2 && exit 2; }

corpus=$1 && shift
arch=realformer layers='' protocol=realformer subwords=moses_bpe folder='' only='' last='' dry='' seed='' name=''
average='' prepare=() train=() averaging=() decoding=() missing=() fresh=() subsets=() stages=" prepare train average translate score "
while [[ $# -gt 0 && $1 != -- ]]; do
    number=2
    case $1 in
        --help | -h) usage && exit 0 ;;
        --dry-run) dry=yes number=1 ;;
        --fresh | --anew) fresh=(--fresh) number=1 ;;
        --bf16 | --tensorboard) train+=("$1") && number=1 ;;
        --*) [[ $# -gt 1 && $2 != --* ]] || refuse "$1 needs a value" ;;&
        --arch) arch=$2 ;;
        --layers) layers=$2 ;;
        --protocol) protocol=$2 ;;
        --subwords) subwords=$2 ;;
        --folder) folder=$2 ;;
        --name) name=$2 ;;
        --seed) seed=$2 train+=("$1" "$2") ;;
        --corpus) corpus=$2 ;;
        --subset) subsets+=("$2") ;;
        --stage) only=$2 ;;
        --stop-after) last=$2 ;;
        --archives | --vocabulary | --workers) prepare+=("$1" "$2") ;;
        --average) average=$2 train+=("$1" "$2") ;;
        --gpus | --nodes | --node-rank | --master | --max-tokens | --tokens-a-step | --epochs | --updates | --precision)
            train+=("$1" "$2") ;;
        *) refuse "unknown option $1" ;;
    esac
    shift "$number"
done
[[ ! $only || ! $last ]] || refuse "give --stage or --stop-after, not both"
[[ $stages == *" ${only:-${last:-score}} "* ]] || refuse "stages are$stages"
[[ $folder ]] || missing+=(--folder DIR)
[[ $layers || ${only:-$last} == prepare ]] || missing+=(--layers "N|N-M")
[[ ! ${missing[*]} ]] || refuse "missing: ${missing[*]}"
[[ $name != */* && $name != .* && $name != data ]] ||
    refuse "--name $name: allowed is the name of one folder, which starts with no dot and is not data, the corpus's"
[[ " $* " != *" --seed"* ]] || refuse "the seed is in the run's name: give --seed N before the --"
data=$folder/data corpus_name=$(basename "$corpus" .toml)

do_it() {
    printf '%q ' "$@" && echo
    [[ $dry ]] || "$@"
}

place() { # NAME SUBSET ENDING: of the files of a test set
    [[ $2 == test ]] && echo "$run/$1$3" || echo "$run/$1-$2$3"
}

ask_protocol() { # once: what it says of averaging, of decoding, and its seed
    local said
    said=$(realformer-nmt protocol "$protocol" --corpus "$corpus" --layers "$layers" --options)
    mapfile -t said <<<"$said"
    read -ra averaging <<<"${said[0]}"
    read -ra decoding <<<"${said[1]}"
    averaging[1]=${average:-${averaging[1]}}
    run=$folder/${name:-$arch-$layers-$(basename "$protocol" .toml)-s${seed:-${said[2]}}}
}

stage_prepare() { do_it realformer-nmt prepare "$corpus" --folder "$data" --subwords "$subwords" "${prepare[@]}"; }

stage_train() {
    local words=(realformer-nmt train --data "$data/data-bin" --folder "$run" --arch "$arch" --layers "$layers"
        --protocol "$protocol" --corpus "$corpus_name" --subwords "$subwords" "${train[@]}" "${fresh[@]}")
    do_it "${words[@]}" "$@"
    [[ ! $dry ]] || "${words[@]}" --dry-run "$@" | sed 's/^/# /'
}

stage_average() {
    do_it realformer-nmt average "$run/checkpoints" "${averaging[@]}" "${fresh[@]}" --output "$run/average.pt"
}

stage_translate() {
    for subset in "${subsets[@]:-test}"; do
        do_it realformer-nmt translate "$run/average.pt" --prepared "$data" --subset "$subset" "${decoding[@]}" \
            --validate "${fresh[@]}" --output "$(place translation "$subset" '')"
    done
}

stage_score() {
    for subset in "${subsets[@]:-test}"; do
        do_it realformer-nmt score "$(place translation "$subset" '')" --training "$run/train.json" "${fresh[@]}" \
            --output "$(place run "$subset" .json)"
    done
}

[[ ${only:-$last} == prepare ]] || ask_protocol
for stage in $stages; do
    [[ $only && $stage != "$only" ]] || "stage_$stage" "$@"
    [[ $stage != "$last" ]] || break
done

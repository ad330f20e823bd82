#!/usr/bin/env bash
# Multi30k English-French, small enough for a CPU: run.sh --layers 6 --folder DIR; --help says the rest.
set -euo pipefail
settings=(--protocol small --subwords sentencepiece --vocabulary 8000)
exec "$(dirname "${BASH_SOURCE[0]}")/../stages.sh" multi30k_en_fr "${settings[@]}" "$@"

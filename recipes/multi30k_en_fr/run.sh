#!/usr/bin/env bash
# Multi30k English-French, small enough for a CPU: run.sh --layers 6 --folder DIR; --help says the rest.
set -euo pipefail
exec realformer-nmt run multi30k_en_fr --protocol small --subwords sentencepiece --vocabulary 8000 "$@"

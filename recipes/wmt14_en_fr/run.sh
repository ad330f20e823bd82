#!/usr/bin/env bash
# WMT'14 English-French: run.sh --arch realformer --layers 60-12 --folder DIR; --help says the rest.
set -euo pipefail
exec realformer-nmt run wmt14_en_fr "$@"

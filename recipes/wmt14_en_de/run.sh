#!/usr/bin/env bash
# WMT'14 English-German: run.sh --arch realformer --layers 18 --folder DIR; --help says the rest.
set -euo pipefail
exec realformer-nmt run wmt14_en_de "$@"

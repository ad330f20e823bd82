#!/usr/bin/env bash
# IWSLT'14 German-English, ResiDual by its own protocol: run.sh --layers 6 --folder DIR; --help says the rest.
set -euo pipefail
exec realformer-nmt run iwslt14_de_en --arch resi_dual --protocol residual "$@"

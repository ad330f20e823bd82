#!/usr/bin/env bash
# Every residual at three depths on the corpus of the quickstart: run.sh [FOLDER]. The same command resumes.
set -euo pipefail
recipes=$(dirname "${BASH_SOURCE[0]}")/..
exec "$recipes"/quickstart/run.sh "${1:-zoo}" "$recipes"/zoo/grid.toml

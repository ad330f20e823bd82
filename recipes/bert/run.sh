#!/usr/bin/env bash
# Masked models of three families at two depths: run.sh [FOLDER]. The same command resumes.
set -euo pipefail
recipe=$(dirname "${BASH_SOURCE[0]}")
exec "$recipe/../compare_text.sh" "$recipe/grid.toml" "${1:-bert}"

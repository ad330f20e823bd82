#!/usr/bin/env bash
# English-German text of Debian's packages, then six families at two depths: run.sh [FOLDER [OPTION of compare]...].
set -euo pipefail
recipe=$(dirname "${BASH_SOURCE[0]}") folder=${1:-debian}
text=$folder/text data=$folder/data
[[ -e $text/test.de ]] || python "$recipe/write_text.py" --folder "$text" --packages "$folder/packages"
(cd "$text" && sha256sum --check --quiet) < "$recipe/tables/text.sha256"
[[ -e $data/prepare.json ]] || realformer-nmt prepare --source en --target de --folder "$data" --vocabulary 8000 \
    --train "$text"/train.{en,de} --valid "$text"/valid.{en,de} --test "$text"/test.{en,de} --quiet
exec realformer-nmt compare "$recipe/grid.toml" --prepared "$data" --folder "$folder" "${@:2}"

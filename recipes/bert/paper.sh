#!/usr/bin/env bash
# The paper's protocol: paper.sh FOLDER [OPTION OF COMPARE...], where FOLDER/text holds raw train.txt, valid.txt and
# test.txt. The same command resumes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) folder=${1:?name a folder that holds text/train.txt, valid.txt and test.txt}
python "$here/pieces.py" "$folder/text" "$folder/pieces" "${VOCABULARY:-30000}"
data=$folder/data-bin pieces=$folder/pieces
[[ -e $data/test.idx ]] || {  # which is written last: version 0.3.0 filled the folder under its own name
    [[ ! -e $data ]] || mv "$data" "$data.$(date +%s)"
    rm -rf "$data.part"  # of a run that was killed: fairseq-preprocess refuses a folder that holds a dictionary
    fairseq-preprocess --user-dir "$here/../../realformer_nmt" --only-source --workers "$(nproc)" --destdir "$data.part" \
        --trainpref "$pieces/train" --validpref "$pieces/valid" --testpref "$pieces/test"
    mv "$data.part" "$data"
}
exec realformer-nmt compare "$here/paper.toml" --prepared "$data" --folder "$folder" "${@:2}"

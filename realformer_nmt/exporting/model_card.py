"""Model card, README.md: architecture, training data, scores and limits of an exported model.

Scores come from run.json beside the checkpoint, if it is of the same checkpoint.
"""

import json
import re
from pathlib import Path

from msgspec import UNSET

from realformer_nmt.checkpoints.inspection import SIZES, arch_of
from realformer_nmt.checkpoints.run_files import SCORES
from realformer_nmt.common.files import records
from realformer_nmt.common.files.text_lines import sha256
from realformer_nmt.evaluation.run_record import RunRecord
from realformer_nmt.exporting.loaded_run import LoadedRun
from realformer_nmt.model.part_names import FAMILY_OPTIONS

HINT = "`realformer-nmt score` writes it; move it away to export without scores"
CARD = """---
language: {languages}
license: {licence}
library_name: transformers
pipeline_tag: translation
---

# {source} to {target}

{what}

## Use

{use}

## Data

{data}

## Scores

{scores}

## Limits

* It translates single sentences of at most {longest} subwords, and does not use the sentences around them.
* Of other kinds of text than it was trained on, nothing is known. It can leave out, add or change what the source says.
* {normalised}
* Positions are a table in model.safetensors, which `save_pretrained` leaves out: copy this folder instead.

## Licence

{terms}
"""
UNKNOWN_LICENCE = """No licence is recorded. The licence of the training data decides what may be done with the model:
write it here, and in the head of this file."""
WITH_TOKENIZER = """```python
from transformers import AutoTokenizer, MarianMTModel

tokenizer, model = (each.from_pretrained("FOLDER") for each in (AutoTokenizer, MarianMTModel))
batch = tokenizer(["A sentence."], return_tensors="pt", padding=True)
print(tokenizer.batch_decode(model.generate(**batch), skip_special_tokens=True))
```"""
WITHOUT_TOKENIZER = """There is no tokenizer here. Split a text into subwords as the training text was. The number of a
subword is that of its line in `dict.{source}.txt`, counted from 4; 3 is an unknown subword, and 2, the end, comes last.
The answer has the numbers of `dict.{target}.txt`.

```python
import torch
from transformers import MarianMTModel

model = MarianMTModel.from_pretrained("FOLDER")
print(model.generate(input_ids=torch.tensor([[7, 5, 2]])))
```"""


def of(source: LoadedRun) -> str:
    record = test_record(source, source.folder / SCORES)
    languages = [_safe(language) for language in source.corpus.languages]
    licence = _safe(source.imported.get("licence") or "")
    use = WITH_TOKENIZER if source.tokenizer_models else WITHOUT_TOKENIZER
    return CARD.format(
        languages=json.dumps(languages),  # in quotes: to YAML, no is false
        source=languages[0],
        target=languages[1],
        use=use.format(source=languages[0], target=languages[1]),
        what=described(source),
        data=trained_on(source, record),
        scores=scored(record),
        longest=min(source.model.max_positions()) - 1,  # of both sides, less the end symbol
        normalised=normalised(source),
        licence=licence or "unknown",
        terms=f"{licence}, as of {_safe(source.imported['model'])}." if licence else UNKNOWN_LICENCE,
    )


def test_record(source: LoadedRun, file: Path) -> RunRecord | None:
    """Return the record of a test of the same checkpoint, if there is one."""
    if not file.is_file():
        return None
    record = records.read(file, RunRecord, HINT)
    return record if [model.sha256 for model in record.models] == [sha256(source.path)] else None


def described(source: LoadedRun) -> str:
    names = [name for name in (*FAMILY_OPTIONS, *SIZES) if name in source.options]
    parts = ", ".join(f"{name} {_safe(source.options[name])}" for name in names)
    parameters = sum(parameter.numel() for parameter in source.model.parameters())
    arch = _safe(arch_of(source.options))
    origin = f"imported from {_safe(source.imported['model'])}" if source.imported else "trained"
    return f"`{arch}` ({parts}), {parameters:,} parameters, {source.updates:,} updates; {origin} by realformer_nmt."


def trained_on(source: LoadedRun, record: RunRecord | None) -> str:
    facts = {
        "corpus": source.corpus.corpus,
        "subwords": source.corpus.subwords,
        "protocol": record and record.protocol,
        "seed": record and record.training_seed,
        "averaged checkpoints": (record and record.averaged and len(record.averaged)) or None,
    }
    values = {name: value for name, value in facts.items() if value not in (None, UNSET)}
    return "\n".join(f"* {name}: {_safe(value)}" for name, value in values.items())


def scored(record: RunRecord | None) -> str:
    if record is None:
        return "None on record."
    names = ", ".join(_safe(name) for name in (record.corpus, tested_text(record)) if name)
    lines = [f"Of {names}, {_safe(record.lines)} lines:", ""]
    for score in record.scores.values():
        within = f" (95 %: plus or minus {score.interval:.2f})" if isinstance(score.interval, float) else ""
        lines.append(f"* {_safe(score.metric)}: {score.score:.2f}{within}, `{_safe(score.signature)}`")
    return "\n".join(lines)


def tested_text(record: RunRecord) -> str:
    """Return the name of the subset, test set or file that was translated, of a file without its folder."""
    translation = record.translation or None
    text = record.subset or ((translation.test_set or translation.input or "") if translation else "")
    return Path(text).name if Path(text).is_absolute() else text


def normalised(source: LoadedRun) -> str:
    names = [
        f"tokenise (Moses, {done} hyphens)" if name == "tokenise" else name.replace("_", " ")
        for name, done in vars(source.corpus.steps).items()
        if done and name != "language"
    ]
    if not names:
        return "realformer_nmt did not normalise its training text."
    return f"Its training text went through: {' and '.join(names)}. Nothing here does that: do it before."


def _safe(value: object) -> str:
    """Return the text without markup, as a record or a checkpoint may be from anybody."""
    return re.sub(r"[^\w .,:;|+=/%()-]", "?", str(value))

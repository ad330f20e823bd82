"""The folder of a run, from a model that another program has trained: what `import` writes for every family."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from realformer_nmt.checkpoints import inspection
from realformer_nmt.checkpoints.files.checkpoint_fields import Options
from realformer_nmt.checkpoints.run_files import CHECKPOINTS, LAST
from realformer_nmt.common.files import records
from realformer_nmt.common.files.atomic_files import completed_folder
from realformer_nmt.common.stages import outputs
from realformer_nmt.common.stages.provenance import made_from
from realformer_nmt.corpora.preparing.prepare_job import DEFAULT_PROTOCOL
from realformer_nmt.corpora.preparing.prepare_record import PrepareRecord
from realformer_nmt.data_bins import vocabulary
from realformer_nmt.data_bins.datasets import dictionary
from realformer_nmt.data_bins.file_checks import describe
from realformer_nmt.data_bins.languages import Pair, check_languages
from realformer_nmt.data_bins.prepared_folder import PreparedFolder
from realformer_nmt.exporting.fairseq_checkpoint import checkpoint
from realformer_nmt.exporting.importing.hub_folder import HubFolder
from realformer_nmt.exporting.loaded_run import IMPORTED, ConversionRecord
from realformer_nmt.fairseq_patches.data.dictionary_checks import fingerprint
from realformer_nmt.kernels.precision import EXACT
from realformer_nmt.model.config import SIDES
from realformer_nmt.model.presets import FAMILIES, Preset

CARD, PROTOCOL = "README.md", "fine_tune.toml"
UNTOUCHED = replace(DEFAULT_PROTOCOL, remove_nonprinting=False, normalise_test=False)  # text goes in as it is
CARD_TEXT = """---
license: {licence}
---

# {name}, imported

It translates {knows}.
It was taken over from `{name}` by `realformer-nmt import`.
Its licence there: {licence}. It holds for this folder, and for what is trained on from it.

```bash
realformer-nmt translate RUN{translated} --input text.{source} --output translation
realformer-nmt prepare --like RUN{prepared} --train new.{source} new.{target} --held-out 100 --folder data-new
realformer-nmt train --data data-new/data-bin --from RUN --arch {arch} --layers {layers} --protocol RUN/{protocol} \\
    --folder tuned
```
"""
PROTOCOL_TEXT = """# The sizes of {name}, and settings to train it on: this package's own, not tuned, and of no paper.
base = "base"
gpus = 1
max_tokens = 4096
update_freq = 1
updates = 2000
average = 1
lenpen = 1.0

[train]
lr = 5e-5
lr-scheduler = "linear"
warmup-updates = 200
{flags}
"""


@dataclass(frozen=True, kw_only=True)
class ImportedModel:
    """A model in the terms of this package, and the files of its subwords."""

    arch: str  # a family
    options: Preset  # those that differ from the family's and from the defaults of TranslationConfig, layers included
    weights: Mapping[str, Tensor]
    words: tuple[Sequence[str], Sequence[str]]  # of source and target, without fairseq's first four
    subwords: str  # a row of METHODS
    files: Mapping[str, bytes]  # of this method
    languages: Sequence[str] = ()  # of a model that knows many

    @property
    def layers(self) -> str:
        return "-".join(str(self.options[f"{side}_layers"]) for side in SIDES)

    def knows(self, pair: Pair) -> str:
        """Return what the model translates, in words."""
        return f"between {len(self.languages)} languages" if self.languages else f"from {' to '.join(pair)}"


def write(model: ImportedModel, folder: HubFolder, languages: tuple[str, str], output: Path) -> None:
    """Fill the folder of a run: a checkpoint, dictionaries, subwords, a card, and a protocol to train on by."""
    check_languages(folder.path, model.languages)
    named = {"_name": model.arch, "decoding_precision": EXACT}  # fairseq overrides options that a checkpoint has
    options: Options = {**named, **FAMILIES[model.arch], **model.options}
    versions = {f"{side}.version": torch.tensor([3.0]) for side in SIDES}
    built = inspection.build(folder.path, options, {**model.weights, **versions})
    settings = {"model": folder.name, "licence": folder.licence()}
    inputs = {file.name: file for file in folder.model_files()}
    with completed_folder(output) as part:
        run = PreparedFolder(part)
        write_prepared(model, folder.name, languages, run)
        dictionaries = [dictionary(run.dictionary(language)) for language in languages]
        state = checkpoint(options, built.state_dict(), languages, str(PreparedFolder(output.absolute()).data))
        hashes = dict(zip(("source", "target"), map(fingerprint, dictionaries), strict=True))
        state["task_state"] = {"dictionaries": hashes, **({} if model.languages else {"languages": list(languages)})}
        (part / CHECKPOINTS).mkdir()
        with (part / CHECKPOINTS / LAST).open("wb") as file:  # of a path torch hides the system's error
            torch.save(state, file)
        records.write(part / IMPORTED, ConversionRecord(made_from=made_from(settings, inputs)))
        (part / CARD).write_text(card(model, folder, languages), encoding="utf-8")
        (part / PROTOCOL).write_text(protocol(model, folder), encoding="utf-8")


def write_prepared(model: ImportedModel, name: str, languages: tuple[str, str], run: PreparedFolder) -> None:
    """Write dictionaries and subwords with their record, as `prepare` does."""
    for folder in (run.data, run.subwords):
        folder.mkdir()
    for language, words in zip(languages, model.words, strict=True):
        vocabulary.write(dict.fromkeys(words, 1), run.dictionary(language))
    for language in model.languages:
        run.dictionary(language).symlink_to(run.dictionary(languages[0]).name)
    for name_of_file, content in model.files.items():
        (run.subwords / name_of_file).write_bytes(content)
    files = describe(run.path, [file for folder in (run.data, run.subwords) for file in sorted(folder.iterdir())])
    record = PrepareRecord(
        written_by=outputs.writer("import"),
        corpus=name,
        source=languages[0],
        target=languages[1],
        subwords=model.subwords,
        vocabulary=len(vocabulary.SYMBOLS) + max(map(len, model.words)),
        settings={"protocol": asdict(UNTOUCHED), "tokenised": False},
        bytes=files.bytes,
        sha256=files.sha256,
    )
    records.write(run.record, record)


def card(model: ImportedModel, folder: HubFolder, languages: tuple[str, str]) -> str:
    source, target = model.languages[:2] or languages
    names = {"name": folder.name, "licence": folder.licence() or "unknown", "source": source, "target": target}
    flags = {
        "translated": f" --source-language {source} --target-language {target}" if model.languages else "",
        "prepared": f" --source {source} --target {target}" if model.languages else "",
    }
    sizes = {"arch": model.arch, "layers": model.layers}
    knows = ": ".join(filter(None, (model.knows(languages), ", ".join(model.languages))))
    return CARD_TEXT.format(**names, **flags, **sizes, knows=knows, protocol=PROTOCOL)


def protocol(model: ImportedModel, folder: HubFolder) -> str:
    """Return a protocol with the sizes of the model; `train` takes its layers as an option."""
    sizes = {name.replace("_", "-"): value for name, value in model.options.items() if not name.endswith("_layers")}
    flags = "\n".join(f"{name} = {json.dumps(value)}" for name, value in sizes.items())
    return PROTOCOL_TEXT.format(name=folder.name, flags=flags)

"""The commands that records of docs/results hold, as today's commands read them."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import to_builtins
from programs import argv
from programs.program import REPOSITORY

from realformer_nmt.checkpoints.average import AverageRequest
from realformer_nmt.comparison.results import results_file
from realformer_nmt.corpora import manifest
from realformer_nmt.evaluation.translating import translation
from realformer_nmt.evaluation.translating.translate import TranslateRequest
from realformer_nmt.protocols.running.planned_training import PlannedTraining
from realformer_nmt.protocols.train import TrainRequest

RESULTS = REPOSITORY / "docs" / "results"


class RecordedCell(NamedTuple):
    file: Path
    corpus: str
    content: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.file.parent.name}/{self.file.stem}/{self.content['name']}"

    def command(self, subcommand: str) -> list[str] | None:
        """Return the arguments of the first recorded command of this name."""
        for line in self.content["commands"]:
            words = shlex.split(line)[1:]
            if words[0] == subcommand:
                return words[1:]
        return None


def cells() -> Iterator[RecordedCell]:
    for file in comparisons_on_record():
        results = results_file.read(file)
        for cell in results.cells:
            yield RecordedCell(file, results.corpus, to_builtins(cell))


def comparisons_on_record() -> list[Path]:
    return [file for file in sorted(RESULTS.glob("*/*.json")) if '"grid":' in file.read_text()]


def fairseq_train(cell: RecordedCell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return fairseq-train's flags as `train` composes them today, in a folder where nothing was prepared."""
    monkeypatch.chdir(folder)
    request = argv.read(TrainRequest, *(cell.command("train") or []))
    if request.protocol.endswith(".toml"):
        places = (cell.file.parent, RESULTS / "multi30k_en_de")
        file = next(file for place in places if (file := place / Path(request.protocol).name).is_file())
        request = replace(request, protocol=str(file))
    if request.corpus is None and cell.command("translate"):
        write_preparation(request.data.parent, cell.corpus)
    flags = PlannedTraining(request).flags
    place = flags.index("--distributed-world-size")  # fairseq's default, which the records do without
    assert flags[place + 1] == "1"
    return flags[:place] + flags[place + 2 :]


def write_preparation(folder: Path, corpus: str) -> None:
    protocol = asdict(manifest.load("multi30k_en_de").protocol)
    note = {"corpus": corpus, "source": "en", "target": "de", "subwords": "sentencepiece"}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prepare.json").write_text(json.dumps({**note, "settings": {"protocol": protocol, "tokenised": False}}))


def averaging_settings(cell: RecordedCell, folder: Path) -> dict[str, Any]:
    request = argv.read(AverageRequest, *(cell.command("average") or []))
    (folder / "average.pt.json").touch()  # the checkpoints of a finished average may be gone
    return dict(replace(request, output=folder / "average.pt").stage().settings)


def decoding_settings(cell: RecordedCell) -> dict[str, Any]:
    return to_builtins(translation.decoding(argv.read(TranslateRequest, *(cell.command("translate") or []))))


def base_names(words: list[str]) -> list[str]:
    """Return the words without folders, which records shorten."""
    return [Path(word).name if "/" in word else word for word in words]

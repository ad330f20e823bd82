"""`realformer-nmt train --dry-run` prints the right command."""

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.logging import progress_bar
from msgspec.structs import replace
from programs import argv
from recipe_scripts.printed import dry_run, flags, train_options

from realformer_nmt.checkpoints.train_record import TrainRecord
from realformer_nmt.cli import main
from realformer_nmt.corpora import manifest
from realformer_nmt.protocols.command import Machines, precision_of
from realformer_nmt.protocols.running.planned_training import PlannedTraining
from realformer_nmt.protocols.running.training_run import Training
from realformer_nmt.protocols.train import TrainRequest


def finished(training: Training) -> TrainRecord:
    return replace(training.summary, complete=True, made_from=training.stage.origin(None))


def test_a_finished_training_needs_no_gpus(toy_corpus: Path, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    tiny = ["--layers", 2, "--protocol", "tiny", "--max-tokens", 512, "--precision", "fp16"]
    options = train_options(tmp_path, "--gpus", 1, *tiny, data=toy_corpus)
    monkeypatch.setattr("torch.cuda.is_available", lambda: torch.cuda.device_count() > 0)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda _: "a GPU")
    monkeypatch.setattr(Training, "run", lambda training, _: training.stage.write(finished(training)) or 0)
    assert main(["train", *options]) == 0
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    for words in (options, [*options, "--gpus", "0"]):  # fp16 is not for a CPU
        assert main(["train", *words]) == 0
        assert "train.json: up to date" in capsys.readouterr().out
    assert main(["train", *options, "--fresh"]) == 1
    assert "--gpus 1, but this machine has no GPU" in capsys.readouterr().err


def test_machines_are_counted_together(tmp_path: Path, capsys: Any) -> None:
    options = ["--layers", "60-12", "--corpus", "wmt14_en_fr", "--gpus", 8, "--nodes", 2, "--master", "first:29400"]
    words = dry_run(capsys, *train_options(tmp_path, *options, "--node-rank", 1))
    assert words[0] == "torchrun"
    fairseq_options = flags(words)
    assert (fairseq_options["nproc-per-node"], fairseq_options["nnodes"], fairseq_options["node-rank"]) == (8, 2, 1)
    assert (fairseq_options["master-addr"], fairseq_options["master-port"]) == ("first", 29400)
    assert (fairseq_options["distributed-world-size"], fairseq_options["update-freq"]) == (16, 16)


def test_more_gpus_take_less_each(tmp_path: Path, capsys: Any) -> None:
    options = flags(dry_run(capsys, *train_options(tmp_path, "--gpus", 8)))  # the protocol has 4 GPUs x 8,192 tokens
    assert (options["max-tokens"], options["update-freq"]) == (4096, 1)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--gpus", 1], "fp16"),
        (["--gpus", 1, "--precision", "fp32"], None),
        (["--gpus", 0], None),
        (["--gpus", 0, "--bf16"], "bf16"),
        (["--gpus", 1, "--precision", "auto"], "fp16"),
        (["--gpus", 0, "--precision", "auto"], "bf16"),
    ],
)
def test_the_precision(
    tmp_path: Path, capsys: Any, monkeypatch: Any, options: list[object], expected: str | None
) -> None:
    monkeypatch.setattr("realformer_nmt.kernels.precision.supported", lambda: ("fp32", "bf16"))
    fairseq_options = flags(dry_run(capsys, *train_options(tmp_path, *options)))
    assert [name for name in ("fp16", "bf16") if name in fairseq_options] == ([expected] if expected else [])
    assert ("cpu" in fairseq_options) == (options[1] == 0)


def test_a_cpu_that_would_emulate_bf16_trains_in_fp32_by_itself(monkeypatch: Any) -> None:
    monkeypatch.setattr("realformer_nmt.kernels.precision.supported", lambda: ("fp32", "int8"))
    assert [precision_of(Machines(0), precision) for precision in ("auto", "bf16", None)] == ["fp32", "bf16", "fp32"]


def test_flags_of_ones_own_go_before_the_protocols(tmp_path: Path, capsys: Any) -> None:
    options = flags(
        dry_run(capsys, *train_options(tmp_path, "--", "--encoder-embed-dim", 64, "--tensorboard-logdir", "x"))
    )
    assert (options["encoder-embed-dim"], options["decoder-embed-dim"], options["tensorboard-logdir"]) == (64, 512, "x")


def test_tensorboard_and_the_checkpoints_to_keep(tmp_path: Path, capsys: Any) -> None:
    options = flags(dry_run(capsys, *train_options(tmp_path, "--tensorboard", "--average", 3)))
    assert options["tensorboard-logdir"] == str(tmp_path / "run/tensorboard")
    assert options["keep-last-epochs"] == 3


@pytest.mark.parametrize(
    ("name", "options", "package"),
    [("wandb", ["--wandb-project", "x"], "wandb"), ("get_aim_run", ["--", "--aim-repo", "x"], "aim")],
)
def test_a_tracker_that_is_not_installed_is_reported(
    name: str, options: list[str], package: str, toy_corpus: Path, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(progress_bar, name, None)
    assert main(["train", *map(str, train_options(tmp_path, *options, data=toy_corpus))]) == 1
    assert f"{options[-2]} needs a package that is not installed: pip install {package}," in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_the_end_of_the_schedule_is_not_counted_where_it_is_known(tmp_path: Path, capsys: Any) -> None:
    words = dry_run(capsys, *train_options(tmp_path, "--", "--lr-scheduler", "inverse_sqrt"))
    assert "total-num-update" not in flags(words)
    words = dry_run(capsys, *train_options(tmp_path, "--updates", 90_000))
    assert "total-num-update" not in flags(words)  # the schedule ends with the training


def test_a_schedule_without_updates_of_warm_up_is_trained(tmp_path: Path, toy_corpus: Path) -> None:
    more = ["--gpus", 0, "--without", "warmup-updates", "--without", "warmup-init-lr", "--", "--lr-scheduler", "manual"]
    planned = PlannedTraining(argv.read(TrainRequest, *train_options(tmp_path, *more, data=toy_corpus)))
    assert [planned.check_warm_up(), planned.options.lr_scheduler] == [None, "manual"]


@pytest.mark.parametrize(
    ("of_protocol", "of_user"),
    [
        ("", ["--batch-size", 4]),
        ("", ["--max-tokens", 70, "--update-freq", "1,3"]),
        ("batch-size = 4", ["--batch-size", 2]),
        ("skip-remainder-batch = true", []),
        ("max-source-positions = 8\ntruncate-source = true", []),
        ("score-length = 8", ["--score-source", "dot"]),  # which has no table, and leaves no sentence out
    ],
)
def test_the_end_of_the_schedule_is_counted_later_in_the_same_batches(
    of_protocol: str, of_user: list[object], toy_corpus: Path, tmp_path: Path, capsys: Any
) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f'base = "small"\n[train]\n{of_protocol}\nwarmup-updates = 2\n')
    short = ["--protocol", file, "--tokens-a-step", 500, "--max-tokens", 250, "--gpus", 0, "--epochs", 3]
    options = [*short, "--arch", "synthesizer_random", "--", "--label-smoothing", 0.2, *of_user]
    counted = flags(dry_run(capsys, *train_options(tmp_path, *options, data=toy_corpus)))["total-num-update"]
    words = dry_run(capsys, *train_options(tmp_path, *options))
    (later,) = [word for word in words if word.startswith("$(realformer-nmt updates")]
    _, name, _, *rest = shlex.split(later.removeprefix("$(").removesuffix(")"))
    assert main([name, str(toy_corpus), *rest]) == 0
    assert int(capsys.readouterr().out) == counted


def test_bleu_is_validated_as_the_subwords_ask(tmp_path: Path, capsys: Any) -> None:
    bare = flags(dry_run(capsys, *train_options(tmp_path)))
    assert "eval-bleu" not in bare
    options = ["--corpus", "wmt14_en_fr", "--subwords", "moses_bpe"]
    words = dry_run(capsys, *train_options(tmp_path, *options))
    moses = flags(words)
    assert (moses["eval-bleu"], moses["eval-bleu-detok"], moses["eval-bleu-remove-bpe"]) == (True, "moses", "@@ ")
    assert json.loads(moses["eval-bleu-detok-args"]) == {"source_lang": "en", "target_lang": "fr"}
    (tmp_path / "data").mkdir()
    note = {
        "corpus": "/some/where/wmt14_en_fr.toml",
        "subwords": "moses_bpe",
        "source": "en",
        "target": "fr",
        "settings": {"protocol": asdict(manifest.load("wmt14_en_fr").protocol), "tokenised": True},
    }
    (tmp_path / "data/prepare.json").write_text(json.dumps(note))
    assert dry_run(capsys, *train_options(tmp_path)) == words
    note["subwords"] = "sentencepiece"
    (tmp_path / "data/prepare.json").write_text(json.dumps(note))
    pieces = flags(dry_run(capsys, *train_options(tmp_path)))
    assert (pieces["eval-bleu-detok"], pieces["eval-bleu-remove-bpe"]) == ("space", "sentencepiece")
    assert main(["train", *train_options(tmp_path, *options), "--dry-run"]) == 1
    assert "prepare.json says sentencepiece" in capsys.readouterr().err

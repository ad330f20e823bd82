"""The exported checkpoint under fairseq's own commands, which know nothing of this package."""

from pathlib import Path

import pytest
import torch
from programs import commands
from programs.reports import Hypothesis, parse
from tiny_models import exportable

from realformer_nmt import subcommands


def hypotheses(data: Path, checkpoint: Path, *flags: object) -> dict[int, list[Hypothesis]]:
    options = ("--beam", 3, "--nbest", 2, "--max-len-b", 20, "--num-workers", 0, "--required-batch-size-multiple", 1)
    done = commands.run(commands.fairseq("generate", data, "--path", checkpoint, "--cpu", *options, *flags))
    assert done.returncode == 0, done.stderr
    return parse(done.stdout).hypotheses


def test_fairseq_generate_writes_the_same_without_the_plug_in(tmp_path: Path, toy_corpus: Path, user_dir: Path) -> None:
    """test_folding.py folds every scaling."""
    checkpoint = exportable.checkpoint(tmp_path / "ours.pt", toy_corpus, "admin_tiny", "--decoder-learned-pos")
    words = ("--data", str(toy_corpus), "--subwords", "none", "--output", str(tmp_path / "plain"))
    assert subcommands.main(["export", str(checkpoint), "--to", "fairseq", *words]) == 0
    exported = tmp_path / "plain" / "model.pt"
    assert torch.load(exported, weights_only=True)["cfg"]["model"]["_name"] == "transformer"
    expected = hypotheses(toy_corpus, checkpoint, "--user-dir", user_dir)
    actual = hypotheses(toy_corpus, exported)
    assert len(actual) == 61
    assert len({best[0].text for best in actual.values()}) > 15
    for number, both in expected.items():
        assert [hypothesis.text for hypothesis in actual[number]] == [hypothesis.text for hypothesis in both]
        assert [one.score for one in actual[number]] == pytest.approx([one.score for one in both], abs=1e-4)

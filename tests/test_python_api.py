"""Commands called from Python do what the command line does, which then finds them done."""

from pathlib import Path

import pytest
from programs import commands

import realformer_nmt
from realformer_nmt import cli
from realformer_nmt.common.errors import UserError
from realformer_nmt.evaluation.translating.translation_record import HYPOTHESES

SIZES = ("--encoder-embed-dim", "8", "--decoder-embed-dim", "8", "--warmup-updates", "1")


def test_a_model_is_trained_averaged_translated_and_scored(
    toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, text = tmp_path / "run", {"data": toy_corpus, "subwords": "none"}
    with commands.starting_forks():
        train = {"data": toy_corpus, "arch": "post_ln", "layers": "1", "protocol": "small", "gpus": 0, "updates": 2}
        assert realformer_nmt.train(**train, average=1, folder=str(run), flags=SIZES) == run / "train.json"
        average = realformer_nmt.average(run / "checkpoints", last=1, output=run / "average.pt")
        hypotheses = realformer_nmt.translate(average, **text, output=run / "test", beam=1, max_len_b=5, cpu=True)
    assert hypotheses == run / "test" / HYPOTHESES
    reference = toy_corpus.parent / "test.tgt"
    scores = realformer_nmt.score(run / "test", reference=reference, output=run / "run.json", bootstrap=0)
    capsys.readouterr()
    words = ["score", run / "test", "--reference", reference, "--output", scores, "--bootstrap", 0]
    assert cli.main([str(word) for word in words]) == 0
    assert capsys.readouterr().out == f"{scores}: up to date\n"


def test_what_is_wrong_is_said_as_on_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"option layer is not one of .*did you mean layers"):
        realformer_nmt.train(layer="6")
    with pytest.raises(UserError, match="the following arguments are required: --data"):
        realformer_nmt.train(folder=tmp_path)
    with pytest.raises(UserError, match="--beam 0: allowed is 1 to 1,000"):
        realformer_nmt.translate("model.pt", output=tmp_path, beam=0)


def test_there_is_no_other_command() -> None:
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        realformer_nmt.__getattr__("trian")

"""Refusal of a --best-checkpoint-metric that no validation logs."""

from pathlib import Path

from fixture_types import Command
from programs.stock_runs import TINY, difference


def test_a_metric_that_nothing_logs_is_refused_before_the_first_update_and_others_change_no_weight(
    fairseq: Command, toy_corpus: Path, user_dir: Path, tmp_path: Path
) -> None:
    training = ("train", toy_corpus, "--user-dir", user_dir, *TINY, "--arch", "admin_tiny", "--max-update", 2)
    for metric in ("loss", "ppl", "bleu"):
        done = fairseq(*training, "--save-dir", tmp_path / metric, "--best-checkpoint-metric", metric)
        assert done.returncode == (metric == "bleu")
    assert "bleu: no validation logs it; pass one of bsz, loss, ppl, wpb, wps, or --eval-bleu" in done.stderr
    assert "num_updates=1" not in done.stdout
    assert difference(*(tmp_path / metric / "checkpoint_last.pt" for metric in ("loss", "ppl"))) == 0

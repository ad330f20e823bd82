"""fairseq's two multilingual tasks, on reversal in both directions."""

from pathlib import Path

import pytest
import torch
from programs.commands import fairseq as command
from programs.processes import outcomes_of, run_all
from programs.reports import losses, parse
from programs.runs import COMMON, SENTENCES, Compose, load, load_state

PAIRS = ("--lang-pairs", "src-tgt,tgt-src")
LEGACY = ("--task", "multilingual_translation", *PAIRS)
SIMPLE = ("--task", "translation_multi_simple_epoch", "--langs", "src,tgt", *PAIRS, "--encoder-langtok", "tgt")
SHORT = ("--max-update", 20, "--disable-validation")


@pytest.fixture(scope="module")
def train_pairs(reversals: Path, user_dir: Path) -> Compose:
    """train_pairs(folder, "--arch", ...) -> a fairseq-train command for both directions."""

    def compose(folder: Path | str, *options: object) -> list[str]:
        return command("train", reversals, "--user-dir", user_dir, "--save-dir", folder, *COMMON, *options)

    return compose


def test_encoders_and_decoders_of_languages(train_pairs: Compose, generate: Compose, tmp_path: Path) -> None:
    sharing = ("--arch", "multilingual_realformer_tiny", "--share-encoders", "--share-decoder-embeddings")
    last, one = tmp_path / "both" / "checkpoint_last.pt", tmp_path / "one.pt"
    training = train_pairs(tmp_path / "both", *LEGACY, *sharing, *SHORT)
    outputs = run_all({"train": training, "both": generate(last, *LEGACY)}, tmp_path)
    first, *_, final = losses(outputs["train"])
    assert final < first - 0.5
    assert outputs["train"].count("ADMIN profile of the first batch, encoder") == 1
    assert outputs["train"].count("ADMIN profile of the first batch, decoder") == 2

    weights = load(last)
    there, back = ({name: weights[name] for name in weights if f".{pair}." in name} for pair in ("src-tgt", "tgt-src"))
    for name, weight in there.items():
        other = back[name.replace("src-tgt", "tgt-src")]
        assert torch.equal(weight, other) == (".encoder." in name or "embed" in name or "version" in name), name

    as_one_pair(last, one)
    alone = parse(run_all({"one": generate(one, "--task", "translation")}, tmp_path)["one"])
    assert len(alone.best) == SENTENCES["test"]
    both = parse(outputs["both"]).hypotheses  # this task reads test1 along with test
    for number, (hypothesis, *_) in alone.hypotheses.items():
        assert hypothesis.text == both[number][0].text
        assert hypothesis.score == pytest.approx(both[number][0].score, abs=1e-5)


def as_one_pair(checkpoint: Path, to: Path) -> None:
    """src-tgt of a multilingual checkpoint, written as a checkpoint of the task translation."""
    state = load_state(checkpoint)
    prefix = "models.src-tgt."
    state["model"] = {name.removeprefix(prefix): w for name, w in state["model"].items() if name.startswith(prefix)}
    state["cfg"]["model"].arch = state["cfg"]["model"]._name = "realformer_tiny"
    torch.save(state, to)


def test_languages_that_share_need_one_dictionary(reversals: Path, train_pairs: Compose, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for path in reversals.iterdir():
        (data / path.name).symlink_to(path)
    (data / "dict.tgt.txt").unlink()
    (data / "dict.tgt.txt").write_text("a 1\nb 1\n")
    arch = ("--arch", "multilingual_realformer_tiny", "--share-encoder-embeddings")
    arguments = train_pairs(tmp_path / "checkpoints", *LEGACY, *arch, *SHORT)
    arguments[1] = str(data)
    status, output = outcomes_of({"train": arguments}, tmp_path)["train"]
    assert "languages that share their embedding need one dictionary" in output
    assert status == 1


def test_one_model_for_all_directions(train_pairs: Compose, generate: Compose, tmp_path: Path) -> None:
    model = ("--arch", "realformer_tiny", "--share-all-embeddings")
    training = train_pairs(tmp_path / "all", *SIMPLE, *model, *SHORT)
    last = tmp_path / "all" / "checkpoint_last.pt"
    jobs = {"train": training, "generate": generate(last, *SIMPLE)}
    outputs = run_all(jobs, tmp_path)
    first, *_, final = losses(outputs["train"])
    assert final < first - 0.5
    assert outputs["train"].count("ADMIN profile of the first batch, encoder") == 1
    assert len(parse(outputs["generate"]).best) == SENTENCES["test"]

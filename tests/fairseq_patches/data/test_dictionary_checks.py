"""A checkpoint of a language model or a masked one knows its words, as one that translates does."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq import tasks
from omegaconf import OmegaConf
from programs.fairseq_config import configured
from texts.text_corpora import pieces

from realformer_nmt.common.errors import UserError
from realformer_nmt.fairseq_patches.checkpoints import resume_checks

OPTIONS: dict[str, dict[str, Any]] = {
    "language_modeling": {"output_dictionary_size": -1},
    "masked_lm": {},
    "sentence_prediction": {"num_classes": 2, "regression_target": True},
    "question_answering": {"tokens_per_sample": 8, "stride": 2},
}


def task(name: str, folder: Path, words: str) -> Any:
    for place in (folder, folder / "input0"):
        place.mkdir(parents=True, exist_ok=True)
        (place / "dict.txt").write_text("".join(f"{word} 1\n" for word in words))
    return tasks.setup_task(OmegaConf.create({"_name": name, "data": str(folder), "seed": 1, **OPTIONS[name]}))


@pytest.mark.parametrize("name", OPTIONS)
def test_a_model_of_other_words_neither_goes_on_nor_is_judged(name: str, tmp_path: Path) -> None:
    original, other = task(name, tmp_path / "own", "abc"), task(name, tmp_path / "other", "acb")
    path = tmp_path / "one.pt"
    torch.save({"model": {}, "task_state": original.state_dict()}, path)
    for now in (original, task(name, tmp_path / "moved", "abc")):
        now.load_state_dict(original.state_dict())  # as generating, validating and fairseq-eval-lm do
        resume_checks.check_same_task(path, trainer(now), torch.load(path))
    with pytest.raises(UserError, match=r"another source dictionary than that of .*/other"):
        other.load_state_dict(original.state_dict())
    with pytest.raises(UserError, match=r"one\.pt: .* another source dictionary than that of .*/other"):
        resume_checks.check_same_task(path, trainer(other), torch.load(path))
    other.load_state_dict({})  # of another version of this package, or of fairseq alone


@pytest.mark.parametrize("name", ["multilingual_translation", "translation_multi_simple_epoch"])
def test_a_model_of_several_pairs_knows_the_words_of_each_language(name: str, tmp_path: Path) -> None:
    def of_pairs(folder: str, words: str) -> Any:
        (tmp_path / folder).mkdir()
        for language, symbols in {"a": "abc", "b": words}.items():
            (tmp_path / folder / f"dict.{language}.txt").write_text("".join(f"{symbol} 1\n" for symbol in symbols))
        options = configured("--task", name, "--lang-pairs", "a-b").task
        options.data = str(tmp_path / folder)
        return tasks.setup_task(options)

    original, same, other = of_pairs("own", "abc"), of_pairs("moved", "abc"), of_pairs("other", "acb")
    path = tmp_path / "one.pt"
    torch.save({"model": {}, "task_state": original.state_dict()}, path)
    same.load_state_dict(original.state_dict())
    resume_checks.check_same_task(path, trainer(same), torch.load(path))
    with pytest.raises(UserError, match=r"another b dictionary than that of .*/other"):
        other.load_state_dict(original.state_dict())
    with pytest.raises(UserError, match=r"one\.pt: .* another b dictionary than that of .*/other"):
        resume_checks.check_same_task(path, trainer(other), torch.load(path))


def test_answers_of_texts_that_were_cut_otherwise_are_refused(tmp_path: Path) -> None:
    words = task("question_answering", tmp_path / "words", "abc")
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "sentencepiece.model").write_bytes(pieces())
    cut = task("question_answering", tmp_path / "cut", "abc")
    path = tmp_path / "one.pt"
    torch.save({"model": {}, "task_state": cut.state_dict()}, path)
    cut.load_state_dict(cut.state_dict())
    resume_checks.check_same_task(path, trainer(cut), torch.load(path))
    for one, other in ((words, cut), (cut, words)):
        with pytest.raises(UserError, match=r"another sentencepiece\.model than those of"):
            one.load_state_dict(other.state_dict())
    with pytest.raises(UserError, match=r"one\.pt: .* another sentencepiece\.model than those of .*/words"):
        resume_checks.check_same_task(path, trainer(words), torch.load(path))
    masked = task("masked_lm", tmp_path / "masked", "abc")
    masked.load_state_dict(cut.state_dict())  # of another task: its texts are cut by no one
    cut.load_state_dict(masked.state_dict())


def trainer(of: Any) -> Any:
    return SimpleNamespace(task=of, cfg=SimpleNamespace(model={}, checkpoint=SimpleNamespace(finetune_from_model=None)))

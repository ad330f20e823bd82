"""A server whose files were moved, cut off or replaced by others: it answers as before, whatever is asked first."""

import os
import shutil
from pathlib import Path

import sentencepiece
from pages.serving_client import serving

from realformer_nmt.serving.serve import ServeRequest
from realformer_nmt.serving.served_models import Served, serve

REQUESTS = (
    {"texts": ["a b c"]},
    {"texts": ["a b c"], "alignments": True},
    {"texts": ["c b a"], "beam": 3, "nbest": 3, "alignments": True},
)
ATTENTION = {"text": "a b c", "pieces": ["c", "b"], "chain": "encoder-decoder", "layer": 2}


def test_what_happens_to_the_files_changes_no_answer(run: Path, toy_corpus: Path, tmp_path: Path) -> None:
    touched, untouched = tmp_path / "touched", tmp_path / "untouched"
    learn(toy_corpus.parent / "train.src", untouched / "subwords" / "sentencepiece.model")
    shutil.copytree(toy_corpus, untouched / "data-bin")
    shutil.copy(run / "checkpoint5.pt", untouched)
    shutil.copytree(untouched, touched)
    models, expected = map(models_of, (touched, untouched))
    for path in sorted(path for path in touched.rglob("*") if path.is_file()):
        os.truncate(path, path.stat().st_size // 2)
        path.rename(path.with_name(f"elsewhere-{path.name}"))
    with serving(models) as client, serving(expected) as unchanged:
        for path, request in (*(("/translate", request) for request in REQUESTS), ("/attention", ATTENTION)):
            answer = client.post(path, request)
            assert answer.status == 200, answer.body
            assert answer.json == unchanged.post(path, request).json


def models_of(folder: Path) -> dict[str, Served]:
    return serve(
        ServeRequest(
            runs=(folder / "checkpoint5.pt",),
            data=folder / "data-bin",
            subwords="sentencepiece",
            subwords_folder=folder / "subwords",
            cpu=True,
        )
    )


def learn(text: Path, model: Path) -> None:
    model.parent.mkdir(parents=True)
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(model.with_suffix("")), vocab_size=20, model_type="bpe", minloglevel=2
    )
    (model.parent / "dictionary.txt").write_text("")

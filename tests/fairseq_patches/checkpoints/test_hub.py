"""from_pretrained: archives stay within a folder, a checkpoint chooses no file and no address."""

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import file_utils, tasks
from fairseq.models.transformer import TransformerModel
from omegaconf import MissingMandatoryValue, OmegaConf
from tiny_models import saved

from realformer_nmt.common.errors import UserError
from realformer_nmt.protocols.running import updates

WIDTH = ("--encoder-embed-dim", "64", "--decoder-embed-dim", "64")


@pytest.fixture(scope="module")
def stock(toy_corpus: Path) -> dict[str, Any]:
    return saved.state(toy_corpus, *WIDTH, arch="transformer")


def load(folder: Path, data: Path, state: dict[str, Any], **options: str) -> Any:
    saved.save(folder / "model.pt", state)
    return TransformerModel.from_pretrained(str(folder), "model.pt", str(data), **options)


def with_bpe(state: dict[str, Any], **settings: str) -> dict[str, Any]:
    return {**state, "cfg": {**state["cfg"], "bpe": settings}}


def test_what_the_caller_names_is_read(stock: dict[str, Any], toy_corpus: Path, tmp_path: Path) -> None:
    codes = tmp_path / "own.codes"
    codes.write_text("#version: 0.2\na b</w>\n")
    hostile = with_bpe(stock, _name="subword_nmt", bpe_codes="http://127.0.0.1:9/${oc.env:HOME}")
    for state in (stock, hostile):
        hub = load(tmp_path, toy_corpus, state, bpe="subword_nmt", bpe_codes=str(codes))
        assert hub.apply_bpe("ab ba") == "ab b@@ a"
    (tmp_path / "bpecodes").write_text("#version: 0.2\nb a</w>\n")  # fairseq finds it beside the model
    assert load(tmp_path, toy_corpus, hostile).apply_bpe("ab ba") == "a@@ b ba"


@pytest.mark.parametrize(
    ("name", "field"),
    [("subword_nmt", "bpe_codes"), ("sentencepiece", "sentencepiece_model"), ("fastbpe", "bpe_codes")],
)
def test_what_the_checkpoint_names_is_not(
    stock: dict[str, Any], toy_corpus: Path, tmp_path: Path, name: str, field: str
) -> None:
    with pytest.raises(MissingMandatoryValue, match=f"Missing mandatory value: {field}"):
        load(tmp_path, toy_corpus, with_bpe(stock, _name=name, **{field: "http://127.0.0.1:9/codes"}))


def test_a_masked_model_fetches_no_bpe(stock: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """fairseq's RobertaModel fetches GPT-2's where it is given none."""
    (tmp_path / "dict.txt").write_text("a 1\nb 1\n")
    lengths = ("--tokens-per-sample", "8", "--max-positions", "8")
    words = ("--arch", "realformer_bert_tiny", "--task", "masked_lm", "--criterion", "masked_lm", *lengths)
    cfg = updates.parse([str(tmp_path), *words, *saved.OPTIMISER])
    model = tasks.setup_task(cfg.task).build_model(cfg.model)
    settings = OmegaConf.to_container(cfg, resolve=True, enum_to_str=True)
    saved.save(tmp_path / "model.pt", {**stock, "cfg": settings, "model": model.state_dict(), "task_state": {}})
    monkeypatch.setattr(file_utils, "get_from_cache", lambda url, *_: pytest.fail(f"fetches {url}"))
    tokens = torch.tensor([[0, 4, 5, 2]])
    loaded = type(model).from_pretrained(str(tmp_path)).eval()
    assert torch.equal(loaded.extract_features(tokens), model.eval()(tokens, features_only=True)[0])


def archive(path: Path, model: Path, name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> Path:
    with tarfile.open(path, "w:gz") as file:
        file.add(model, "m/model.pt")
        other = tarfile.TarInfo(name)
        other.type, other.linkname = kind, link
        file.addfile(other, io.BytesIO())
    return path


@pytest.mark.parametrize(
    "member", [("../proof",), ("{}/proof",), ("m/link", tarfile.SYMTYPE, "{}"), ("m/device", tarfile.CHRTYPE)]
)
def test_an_archive_stays_within_its_folder(
    stock: dict[str, Any], toy_corpus: Path, tmp_path: Path, member: tuple[Any, ...]
) -> None:
    name, *more = (part.format(tmp_path) if isinstance(part, str) else part for part in member)
    model = saved.save(tmp_path / "a.pt", stock)
    packed = archive(tmp_path / "m.tar.gz", model, name, *more)
    with pytest.raises(
        UserError, match=r"m\.tar\.gz holds '.*', which is no file or folder below its own; nothing was"
    ):
        TransformerModel.from_pretrained(str(packed), "model.pt", str(toy_corpus))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pt", "m.tar.gz"]


def test_a_good_archive_is_unpacked(stock: dict[str, Any], toy_corpus: Path, tmp_path: Path) -> None:
    packed = archive(tmp_path / "m.tar.gz", saved.save(tmp_path / "a.pt", stock), "m/notes.txt")
    assert TransformerModel.from_pretrained(str(packed), "model.pt", str(toy_corpus)).models

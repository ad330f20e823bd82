"""The files of bad_inputs.py, good and bad, in one folder."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from texts import translation_records
from tiny_models import saved

from realformer_nmt.common.files.json_records import SEAL, seal

GRID = {"families": ["admin"], "layers": ["2"], "protocol": "own.toml"}


def write(folder: Path, data: Path) -> None:
    """`data`: the data-bin of the toy corpus."""
    texts(folder)
    toml(folder)
    data_bins(folder, data)
    checkpoints(folder, data)
    preparations(folder)
    translations(folder)


def texts(folder: Path) -> None:
    for language, word in (("en", "a dog"), ("de", "ein Hund")):
        (folder / f"ok.{language}").write_text("".join(f"{word} number {number}\n" for number in range(60)))
    files = {
        "empty": b"",
        "latin1": "fine\nM\xe4rz\n".encode("latin-1") * 30,
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    (folder / "unreadable").symlink_to("/proc/self/mem")  # which root cannot read either
    (folder / "damaged" / "stages").mkdir(parents=True)
    (folder / "damaged" / "stages" / "text.json").write_text(sealed({}))  # a stage that is done
    (folder / "damaged" / "stages" / "settings.json").write_text('{"source": ')
    (folder / "damaged" / "train.json").write_text('{\n  "complete": tru')


def toml(folder: Path) -> None:
    (folder / "own.toml").write_text(OWN)
    (folder / "deep.toml").write_text(f"families = {'[' * 5000}{']' * 5000}")
    (folder / "grid.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in GRID.items()))


OWN = 'base = "small"\n[train]\nmax-source-positions = 64\n'


def data_bins(folder: Path, data: Path) -> None:
    for name in ("data", "version7", "noindex", "cut", "cutindex", "otherwords", "nowords", "prosewords"):
        shutil.copytree(data, folder / name)
    index = "train.src-tgt.src.idx"
    content = bytearray((data / index).read_bytes())
    (folder / "cutindex" / index).write_bytes(content[:-100])
    content[9] = 7
    (folder / "version7" / index).write_bytes(content)
    (folder / "noindex" / index).write_text("Dear all, this is no index.\n")
    binary = folder / "cut" / "train.src-tgt.src.bin"
    binary.write_bytes(binary.read_bytes()[:-10])
    words = (data / "dict.src.txt").read_text().splitlines(keepends=True)
    other = {"otherwords": "".join(words[:4]).encode(), "prosewords": b"Dear all,\nhow are you?\n"}
    for name, content in other.items():
        for side in ("src", "tgt"):
            (folder / name / f"dict.{side}.txt").write_bytes(content)
    (folder / "nowords" / "dict.src.txt").unlink()


def checkpoints(folder: Path, data: Path) -> None:
    good = saved.state(data)
    saved.save(folder / "good.pt", good)
    saved.save(folder / "stock.pt", saved.state(data, "--encoder-embed-dim", "64", arch="transformer"))
    for name, option, size in (("deeper", "encoder_layers", 3), ("vast", "encoder_ffn_embed_dim", 2 * 10**9)):
        options = {**good["cfg"]["model"], option: size}
        saved.save(folder / f"{name}.pt", {**good, "cfg": {**good["cfg"], "model": options}})
    whole = (folder / "good.pt").read_bytes()
    (folder / "cut.pt").write_bytes(whole[: len(whole) // 2])


def preparations(folder: Path) -> None:
    lengths = {"min": 1, "max": 250, "ratio": 9, "counted": "before_bpe", "validation": False}
    flags = ("normalise_punctuation", "remove_nonprinting", "normalise_test", "aggressive_hyphens", "lowercase")
    protocol = {**dict.fromkeys(flags, False), "bpe": 30, "joined_dictionary": True, "lengths": lengths}
    settings = {"protocol": protocol, "tokenised": False, "deduplicate": False}
    good = {"corpus": "own files", "source": "src", "target": "tgt", "subwords": "sentencepiece", "settings": settings}
    good |= {"bytes": {}, "sha256": {}}
    notes = {
        "prep": json.dumps(good),
        "prep_cut": json.dumps(good)[:40],
        "prep_half": json.dumps({**good, "settings": None}),
    }
    for name, note in notes.items():
        shutil.copytree(folder / "data", folder / name / "data-bin")
        (folder / name / "prepare.json").write_text(note)


def sealed(record: dict[str, Any]) -> str:
    return json.dumps({**record, SEAL: seal(record)})


def translations(folder: Path) -> None:
    text = (folder / "ok.de").read_bytes()
    files = {"hypotheses.txt": hashlib.sha256(text).hexdigest()}
    model = {
        "checkpoints": ["good.pt"],
        "checkpoint_sha256": [hashlib.sha256((folder / "good.pt").read_bytes()).hexdigest()],
    }
    good = to_builtins(translation_records.record(**model, subset="test", lines=60, files=files))
    records = {
        "hyp": sealed(good),
        "hyp_gone": sealed({**good, "checkpoints": ["gone.pt"]}),
        "hyp_cut": json.dumps(good)[:40],
        "hyp_half": sealed({name: value for name, value in good.items() if name != "files"}),
    }
    for name, record in records.items():
        (folder / name).mkdir()
        (folder / name / "translation.json").write_text(record)
        (folder / name / "hypotheses.txt").write_bytes(text)

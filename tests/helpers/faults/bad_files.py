"""The files of bad_inputs.py, good and bad, in one folder."""

import gzip
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import torch
from msgspec import to_builtins
from texts import translation_records
from tiny_models import saved

from realformer_nmt.common.files.json_records import SEAL, seal
from realformer_nmt.evaluation.run_record import RecordedFile, RunRecord
from reliability.fuzzed_inputs import MODEL

GRID = {"families": ["admin"], "layers": ["2"], "protocol": "own.toml"}
GRIDS: dict[str, dict[str, Any]] = {
    "grid": {},
    "g_key": {"famlies": ["admin"]},
    "g_zero": {"layers": ["0"]},
    "g_corpus": {"corpus": "multi30k_en_de"},
}
PACKING = '[[archives.a]]\nurls = ["{url}"]\n{hash}\n'
MANIFEST = """
base = "multi30k_en_de"
train = [{{source = "{member}", target = "a:x.de"}}]
{packing}
"""
HASHED = 'md5 = "' + "0" * 32 + '"'


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
        lines = [f"{word} number {number}\n" for number in range(60)]
        (folder / f"ok.{language}").write_text("".join(lines))
        (folder / f"short.{language}").write_text("".join(lines[1:]))
        (folder / f"one.{language}").write_text(lines[0])
    files = {
        "empty": b"",
        "latin1": "fine\nM\xe4rz\n".encode("latin-1") * 30,
        "utf16": "M\xe4rz\n".encode("utf-16"),
        "binary": bytes(range(256)) * 20,
        "gigantic": b"word " * 2_000_000 + b"\n",
        "word": b"w" * 10_000_000 + b"\n",
        "letter": b"a b\n" * 60,
        "spaces": " \t\u00a0\u3000\n".encode() * 60,
        "cut.gz": gzip.compress(b"a dog\n" * 60)[:-12],
        "bomb.gz": gzip.compress(bytes(1 << 26), compresslevel=1),
        "plain.gz": b"a dog\n" * 60,
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    (folder / "itself").symlink_to("itself")
    (folder / "unreadable").symlink_to("/proc/self/mem")  # which root cannot read either
    for name in ("damaged", "begun"):
        (folder / name / "stages").mkdir(parents=True)
        (folder / name / "stages" / "text.json").write_text(sealed({}))  # a stage that is done
    (folder / "damaged" / "stages" / "settings.json").write_text('{"source": ')
    begun = {"settings": {"source": "fr"}, "inputs": {}}
    (folder / "begun" / "stages" / "settings.json").write_text(sealed(begun))
    (folder / "damaged" / "train.json").write_text('{\n  "complete": tru')
    (folder / "archives").mkdir()
    (folder / "archives" / "train.en.gz").write_text("not the archive")


def toml(folder: Path) -> None:
    good = {"member": "a:x.en", "packing": PACKING.format(url="https://host/a.tgz", hash=HASHED)}
    manifests = {
        "key": {**good, "packing": 'sauce = "en"\n' + good["packing"]},
        "escape": {**good, "member": "a:../x.en"},
        "file": {**good, "packing": PACKING.format(url="file:///etc/passwd", hash=HASHED)},
        "unhashed": {**good, "packing": PACKING.format(url="https://host/a.tgz", hash="")},
    }
    contents = {name: MANIFEST.format(**fields) for name, fields in manifests.items()}
    contents |= {"ouroboros": 'base = "ouroboros.toml"', "text": "Dear all,\nhow are you?\n"}
    contents |= {"deep": f"families = {'[' * 5000}{']' * 5000}"}
    contents |= {"loop": 'base = "pool"', "pool": 'base = "loop"', "own": OWN, "p_key": 'base = "small"\nmax_tokns = 9'}
    for name, content in contents.items():
        (folder / f"{name}.toml").write_text(content)
    (folder / "latin1.toml").write_bytes('source = "\xe4"'.encode("latin-1"))
    for name, changes in GRIDS.items():
        lines = [f"{key} = {_toml(value)}\n" for key, value in {**GRID, **changes}.items()]
        (folder / f"{name}.toml").write_text("".join(lines))


OWN = 'base = "small"\n[train]\nmax-source-positions = 64\n'


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    return f"[{', '.join(map(_toml, value))}]" if isinstance(value, list) else json.dumps(value)


def data_bins(folder: Path, data: Path) -> None:
    names = ("data", "version7", "noindex", "cut", "cutindex", "otherwords", "nowords", "binarywords", "prosewords")
    for name in (*names, "twicewords"):
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
    other = {
        "otherwords": "".join(words[:4]).encode(),
        "binarywords": bytes(range(256)),
        "prosewords": b"Dear all,\nhow are you?\n",
        "twicewords": "".join([*words, words[0]]).encode(),
    }
    for name, content in other.items():
        for side in ("src", "tgt"):
            (folder / name / f"dict.{side}.txt").write_bytes(content)
    (folder / "nowords" / "dict.src.txt").unlink()
    (folder / "reverse").mkdir()
    for file in data.iterdir():  # the same corpus from tgt to src
        (folder / "reverse" / file.name.replace("src-tgt", "tgt-src")).write_bytes(file.read_bytes())


def checkpoints(folder: Path, data: Path) -> None:
    good = saved.state(data)
    model = good["model"]
    name = "decoder.layers.0.fc1.weight"
    saved.save(folder / "good.pt", good)
    saved.save(folder / "nan.pt", {**good, "model": {**model, name: torch.full_like(model[name], float("nan"))}})
    saved.save(folder / "fewer.pt", {**good, "model": {key: model[key] for key in model if key != name}})
    saved.save(folder / "more.pt", {**good, "model": {**model, "decoder.extra": torch.ones(2)}})
    saved.save(folder / "list.pt", {"weights": [1, 2]})
    saved.save(folder / "prose.pt", {**good, "model": {"encoder.weight": "Dear all"}})
    saved.save(folder / "pre.pt", saved.state(data, arch="pre_ln_tiny"))
    saved.save(folder / "stock.pt", saved.state(data, "--encoder-embed-dim", "64", arch="transformer"))
    words = saved.state(data)
    for key in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "decoder.output_projection.weight"):
        words["model"][key] = torch.zeros(52, 64)
    saved.save(folder / "words.pt", words)
    for name, option, size in (
        ("deeper", "encoder_layers", 3),
        ("abyss", "encoder_layers", 10_000),
        ("vast", "encoder_ffn_embed_dim", 10**12),
    ):
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
        "prep_list": "[]",
        "prep_half": json.dumps({**good, "settings": None}),
        "prep_kinds": json.dumps({**good, "source": 5}),
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
    translation = translation_records.record(**model, subset="test", lines=60, files=files)
    good = to_builtins(translation)
    records = {
        "hyp": sealed(good),
        "hyp_gone": sealed({**good, "checkpoints": ["gone.pt"]}),
        "hyp_cut": json.dumps(good)[:40],
        "hyp_list": "[]",
        "hyp_half": sealed({name: value for name, value in good.items() if name != "files"}),
        "hyp_changed": sealed(good),
    }
    for name, record in records.items():
        (folder / name).mkdir()
        (folder / name / "translation.json").write_text(record)
        (folder / name / "hypotheses.txt").write_bytes(b"changed\n" if name == "hyp_changed" else text)
    for name, reference in (("a", "ok.de"), ("b", "short.de"), ("changed", "ok.de")):
        digest = hashlib.sha256((folder / reference).read_bytes()).hexdigest()
        recorded_file = RecordedFile(path=reference, sha256=digest if name != "changed" else "0")
        files_of_run = {"hypotheses": recorded_file, "reference": recorded_file}
        run = RunRecord(subset="test", models=[MODEL], translation=translation, files=files_of_run)
        (folder / f"{name}.json").write_text(sealed(to_builtins(run)))
    (folder / "grid.json").write_text('{"files": 5}')

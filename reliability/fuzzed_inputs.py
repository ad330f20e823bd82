"""Texts, records, archives, checkpoints and indices that nobody would write, a few edits away from what is right."""

import hashlib
import io
import json
import zipfile
from typing import Any

from hypothesis import strategies as st
from msgspec import to_builtins

from realformer_nmt.common.files.json_records import SEAL, seal
from realformer_nmt.corpora import manifest
from realformer_nmt.data_bins.index import HEADER
from realformer_nmt.evaluation.run_record import ModelRecord, RecordedFile, RunRecord, Score
from realformer_nmt.evaluation.translating.translation_record import DecodingSettings, TranslationRecord

Given = st.SearchStrategy[bytes]
SGM = b'<srcset setid="a">\n<doc docid="b">\n<seg id="1"> Q&amp;A \xc3\xa4 </seg>\n<seg id="2">two</seg>\n</doc>\n'
GRID = b"""families = ["admin", "post_ln"]\nlayers = ["6", "60-12"]\nseeds = [1]\nbaseline = "admin"
[train]\nlr = 0.001\n[budget]\nepochs = 3\n[[override]]\nfamily = "admin"\ntrain = {lr = 1.0}\n"""
PROTOCOL = b'base = "small"\nbeam = 4\n[train]\nlr = 0.001\n[layers.18.train]\nlr = 0.002\n'
MANIFEST = manifest.FOLDER / "wmt14_en_de.toml"
LENGTHS = {"min": 1, "max": 250, "ratio": 9, "counted": "before_bpe", "validation": False}
FLAGS = ("normalise_punctuation", "remove_nonprinting", "normalise_test", "aggressive_hyphens", "lowercase")
PREPARED: dict[str, Any] = {
    **{"corpus": "own files", "source": "en", "target": "de", "subwords": "sentencepiece"},
    "settings": {
        "tokenised": False,
        "protocol": {**dict.fromkeys(FLAGS, False), "bpe": 30, "joined_dictionary": True, "lengths": LENGTHS},
    },
}
TEXT = b"one\n"
FILE = RecordedFile(path="text", sha256=hashlib.sha256(TEXT).hexdigest())
DECODING = DecodingSettings(
    beam=4, lenpen=0.6, max_len_a=1, max_len_b=50, max_tokens=None, batch_size=64, fp16=False, bf16=False
)
MODEL = ModelRecord(checkpoint="a.pt", sha256="0", arch="admin", parameters=9, shortcuts=[])
RUN: dict[str, Any] = to_builtins(
    RunRecord(
        corpus="own files",
        subset="test",
        lines=1,
        scores={"bleu": Score(metric="BLEU", score=1.5, signature="a", interval=None)},
        published=[],
        models=[MODEL],
        translation=TranslationRecord(
            checkpoint_sha256=["0"],
            checkpoints=["a.pt"],
            languages=("en", "de"),
            subwords="none",
            decoding=DECODING,
            lines=1,
            files={},
        ),
        files={"hypotheses": FILE, "reference": FILE},
        commit=None,
        parameters=9,
        validation={"nll_loss": 2.5},
        decoding=DECODING,
    )
)


def mutated(whole: bytes) -> Given:
    """A few cuts, repetitions and insertions away from what is right."""
    place = st.integers(0, len(whole))
    insertion = st.binary(max_size=9) | st.sampled_from(
        (b"\0", b"\n", b'"', b"[", b"]", b"{", b"=", b"<seg", b"\xff\xfe")
    )

    def edit(edits: list[tuple[int, int, bytes, bool]]) -> bytes:
        content = whole
        for start, end, inserted, again in edits:
            first, last = sorted((start, end)) if again else (start, start)
            content = content[:first] + inserted + content[last if len(inserted) % 2 else first :]
        return content

    return st.lists(st.tuples(place, place, insertion, st.booleans()), max_size=4).map(edit)


def resealed(content: bytes) -> bytes:
    """Seal a record as its writer would have, so that a reader looks at what is behind the seal."""
    try:
        record = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if not isinstance(record, dict):
        return content
    record.pop(SEAL, None)
    return json.dumps({**record, SEAL: seal(record)}).encode()


def index_of(sizes: tuple[int, ...]) -> bytes:
    numbers = b"".join(size.to_bytes(4, "little") for size in sizes) + bytes(8 * len(sizes))
    return HEADER.pack(b"MMIDIDX\x00\x00", 1, 8, len(sizes)) + numbers


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"one\n" * 50)
    return stream.getvalue()

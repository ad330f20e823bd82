"""Checkpoints that nobody's training saved: pickles that would act, arrays and tensors beyond their numbers."""

import io
import pickle
import zipfile
from pathlib import Path

import torch

from reliability.pickle_words import (
    array,
    built,
    called,
    group,
    name,
    namespace,
    number,
    raw,
    scalar,
    storage,
    table,
    tensor,
    text,
)


def pickles(proof: Path) -> dict[str, bytes]:
    """Return hostile pickles, by name, to stand in the place of the model's weights."""
    command = text(f"touch {proof}")
    return {**calls(command), **arrays(), **tensors(command), **objects(command), **structures(command)}


def calls(command: bytes) -> dict[str, bytes]:
    """Return pickles that name a class or function, call it, or make an instance of it."""
    pickled = {}
    for word in CALLED.split():
        named = name(*word.split(":"))
        pickled[word] = named + group(command) + b"R"
        pickled[f"{word} made"] = named + group(command) + b"\x81"
        pickled[f"{word} named"] = named
    return pickled


# The reader knows 15 names and refuses any other in one place: one name of a kind stands for all
CALLED = """
    os:system __builtin__:eval __builtin__:getattr functools:partial numpy:load torch:load torch:Tensor
    torch._utils:_rebuild_sparse_tensor omegaconf.omegaconf:OmegaConf copy_reg:_reconstructor
    fairseq.utils:import_user_module realformer_nmt.checkpoints.files.rebuilders:Values
"""


def arrays() -> dict[str, bytes]:
    eight = (0x4141414141414141).to_bytes(8, "little")
    dtype_of_objects = called("numpy", "dtype", text("O"), b"\x89", b"\x88")
    reconstruct = ("numpy._core.multiarray", "_reconstruct")
    return {
        "array of objects": array("O", eight, 1),
        "array of objects, numpy 1": array("O8", eight, 1).replace(b"numpy._core", b"numpy.core"),
        "ndarray of objects": called("numpy", "ndarray", group(number(1)), dtype_of_objects, raw(eight)),
        "array of structures": array("V8", eight, 1),
        "array of another order": array("i8", eight, 1, order=">"),
        "array too short": array("i8", eight, 1 << 40),
        "array too long": array("f8", eight * 2, 1),
        "array below nothing": array("i8", eight, -1, -1),
        "array without a state": called(*reconstruct, name("numpy", "ndarray"), group(), raw(b"b")),
        "array of another class": called(*reconstruct, name("argparse", "Namespace"), group(), raw(b"b")),
        "scalar of objects": scalar("O8", raw(eight)),
        "scalar of a whole number": scalar("i8", raw(eight)),
        "scalar of 4 bytes": scalar("f8", raw(eight[:4])),
        "scalar of text": scalar("f8", text("8 bytes.")),
        "scalar without a kind": called("numpy._core.multiarray", "scalar", raw(eight)),
    }


def tensors(command: bytes) -> dict[str, bytes]:
    """Return pickles of tensors that lie outside their numbers, or are of numbers that are none."""
    return {
        "tensor before its numbers": tensor(storage(), -4, (4,), (1,)),
        "tensor behind its numbers": tensor(storage(), 2, (4,), (1,)),
        "tensor backwards": tensor(storage(), 3, (4,), (-1,)),
        "tensor of a wide step": tensor(storage(), 0, (2,), (1 << 40,)),
        "tensor of a step beyond 64 bits": tensor(storage(), 0, (1,), (1 << 70,)),
        "tensor of 4 TB": tensor(storage(), 0, (1 << 20, 1 << 20), (0, 0)),
        "tensor of no shape": tensor(storage(), 0, (2, 2), (2,)),
        "tensor of more numbers": tensor(storage(length=1 << 40), 0, (1 << 40,), (1,)),
        "tensor of complex numbers": tensor(storage(kind="ComplexFloatStorage", length=2), 0, (2,), (1,)),
        "tensor of any bytes": tensor(storage(kind="UntypedStorage", length=16), 0, (16,), (1,)),
        "tensor of flags that are none": tensor(storage(kind="BoolStorage", length=16), 0, (16,), (1,)),
        "tensor of another file": tensor(storage(key="../../version"), 0, (4,), (1,)),
        "tensor of no storage": called("torch._utils", "_rebuild_tensor_v2", command, number(0)),
        "storage of a class": group(text("storage"), name("os", "system"), text("0"), text("cpu"), number(4)) + b"Q",
        "storage of a word": text("storage") + b"Q",
    }


def objects(command: bytes) -> dict[str, bytes]:
    """Return pickles of known classes with states or arguments that they never have."""
    configured = name("omegaconf.dictconfig", "DictConfig") + b")\x81"
    return {
        "bytes with a handler": called("_codecs", "encode", text("x"), text("latin1"), command),
        "options with a class": namespace(__class__=name("argparse", "Namespace")),
        "options with a dictionary": namespace(__dict__=table()),
        "options of arguments": name("argparse", "Namespace") + group(command) + b"\x81",
        "dictionary with methods": built(called("collections", "OrderedDict"), table(items=name("os", "system"))),
        "settings with a class": built(configured, table(_content=name("typing", "Any"))),
        "settings of settings": built(configured, built(configured, table(_content=b"N"))),
    }


def structures(command: bytes) -> dict[str, bytes]:
    """Return pickles that need no class, and operations of other protocols: each a way to a class or a call."""
    return {
        "list in itself": b"]q\x09h\x09a",
        "lists in lists": b"]" * 100_000 + b"a" * 99_999,
        "tuples in tuples": b")" + b"\x85" * 100_000,
        "key of a list": b"}]Ns",
        "state of a number": number(1) + table() + b"b",
        "call of text": text("os.system") + group(command) + b"R",
        "nothing recalled": b"h\xee",
        "no mark": b"t",
        "text beyond the end": b"X\xff\xff\xff\x7fab",
        "instance": b"(ios\nsystem\n",
        "object": b"(cos\nsystem\nX\x01\x00\x00\x00xo",
        "global of the stack": b"\x8c\x02os\x8c\x06system\x93",
        "extension": b"\x82\x01",
        "instance with keywords": b"cos\nsystem\n)}\x92",
        "persistent name": b"Pstorage\n",
        "buffer": b"\x97",
        "number of 4 GB": b"\x8b\xff\xff\xff\xff",
    }


def packed(pickled: bytes) -> bytes:
    """A whole archive as torch.save writes it, with four floats, and with this pickle in the place of its model."""
    stream = io.BytesIO()
    content = b"\x80\x02" + b"}(" + text("model") + pickled + text("cfg") + b"Nu."
    numbers = torch.ones(4).numpy().tobytes()
    records = {"data.pkl": content, "byteorder": b"little", "data/0": numbers, "version": b"3\n"}
    with zipfile.ZipFile(stream, "w") as archive:
        for record, payload in records.items():
            archive.writestr(f"archive/{record}", payload)
    return stream.getvalue()


def older(pickled: bytes) -> bytes:
    """The same as torch wrote it before 1.6."""
    numbers = torch.ones(4).numpy().tobytes()
    start = [pickle.dumps(value, 2) for value in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})]
    content = b"\x80\x02" + b"}(" + text("model") + pickled + text("cfg") + b"Nu."
    return b"".join([*start, content, pickle.dumps(["0"], 2), (4).to_bytes(8, "little"), numbers])

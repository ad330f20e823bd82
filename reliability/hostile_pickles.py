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
    pickled = {}
    for word in CALLED.split():
        named = name(*word.split(":"))
        pickled[word] = named + group(command) + b"R"
        pickled[f"{word} made"] = named + group(command) + b"\x81"
        pickled[f"{word} named"] = named
    return pickled


def arrays() -> dict[str, bytes]:
    eight = (0x4141414141414141).to_bytes(8, "little")
    dtype_of_objects = called("numpy", "dtype", text("O"), b"\x89", b"\x88")
    return {
        "array of objects": array("O", eight, 1),
        "array of objects, numpy 1": array("O8", eight, 1).replace(b"numpy._core", b"numpy.core"),
        "ndarray of objects": called("numpy", "ndarray", group(number(1)), dtype_of_objects, raw(eight)),
        "dtype": dtype_of_objects,
        "dtype rebuilt": called("numpy", "dtype", text("i8"), b"\x89", b"\x88") + dtype_of_objects + b"b",
        "array of structures": array("V8", eight, 1),
        "array of text": array("U2", eight, 1),
        "array of float32": array("f4", eight, 2),
        "array of another order": array("i8", eight, 1, order=">"),
        "array of native order": array("i8", eight, 1, order="="),
        "array too short": array("i8", eight, 1 << 40),
        "array too long": array("f8", eight * 2, 1),
        "array below nothing": array("i8", eight, -1, -1),
        "array by columns": array("i8", eight * 4, 2, 2, columns=b"\x88"),
        "array without a state": called(
            "numpy._core.multiarray", "_reconstruct", name("numpy", "ndarray"), group(), raw(b"b")
        ),
        "array of another class": called(
            "numpy._core.multiarray", "_reconstruct", name("argparse", "Namespace"), group(), raw(b"b")
        ),
        "scalar": called("numpy._core.multiarray", "scalar", dtype_of_objects, raw(eight)),
        "scalar of objects": scalar("O8", raw(eight)),
        "scalar of a whole number": scalar("i8", raw(eight)),
        "scalar of 4 bytes": scalar("f8", raw(eight[:4])),
        "scalar of 16 bytes": scalar("f8", raw(eight * 2)),
        "scalar of text": scalar("f8", text("8 bytes.")),
        "scalar of another order": scalar("f8", raw(eight), order=">"),
        "scalar without a kind": called("numpy._core.multiarray", "scalar", raw(eight)),
    }


def tensors(command: bytes) -> dict[str, bytes]:
    return {
        "tensor before its numbers": tensor(storage(), -4, (4,), (1,)),
        "tensor behind its numbers": tensor(storage(), 2, (4,), (1,)),
        "tensor backwards": tensor(storage(), 3, (4,), (-1,)),
        "tensor of a wide step": tensor(storage(), 0, (2,), (1 << 40,)),
        "tensor of a step beyond 64 bits": tensor(storage(), 0, (1,), (1 << 70,)),
        "tensor of 4 TB": tensor(storage(), 0, (1 << 20, 1 << 20), (0, 0)),
        "tensor of no shape": tensor(storage(), 0, (2, 2), (2,)),
        "tensor below nothing": tensor(storage(), 0, (-1,), (1,)),
        "tensor of more numbers": tensor(storage(length=1 << 40), 0, (1 << 40,), (1,)),
        "tensor of fewer numbers": tensor(storage(length=2), 0, (2,), (1,)),
        "tensor of complex numbers": tensor(storage(kind="ComplexFloatStorage", length=2), 0, (2,), (1,)),
        "tensor of quantised numbers": tensor(storage(kind="QInt8Storage", length=16), 0, (16,), (1,)),
        "tensor of any bytes": tensor(storage(kind="UntypedStorage", length=16), 0, (16,), (1,)),
        "tensor of flags that are none": tensor(storage(kind="BoolStorage", length=16), 0, (16,), (1,)),
        "tensor of another file": tensor(storage(key="../../version"), 0, (4,), (1,)),
        "tensor with bits": tensor(storage(), 0, (4,), (1,), table(neg=b"\x88")),
        "tensor of no storage": called("torch._utils", "_rebuild_tensor_v2", command, number(0)),
        "tensor set anew": built(
            name("torch", "Tensor") + b")\x81", group(storage(), number(0), group(number(9)), group(number(1)))
        ),
        "storage by itself": storage(),
        "storage of a class": group(text("storage"), name("os", "system"), text("0"), text("cpu"), number(4)) + b"Q",
        "storage of a module": group(text("module"), name("torch", "FloatStorage"), text("0"), text("cpu"), number(4))
        + b"Q",
        "storage of a word": text("storage") + b"Q",
    }


def objects(command: bytes) -> dict[str, bytes]:
    configured = name("omegaconf.dictconfig", "DictConfig") + b")\x81"
    return {
        "bytes in another coding": called("_codecs", "encode", text("x"), text("idna")),
        "bytes with a handler": called("_codecs", "encode", text("x"), text("latin1"), command),
        "options with a class": namespace(__class__=name("argparse", "Namespace")),
        "options with a dictionary": namespace(__dict__=table()),
        "options of slots": built(name("argparse", "Namespace") + b")\x81", group(b"N", table(a=b"N"))),
        "options of arguments": name("argparse", "Namespace") + group(command) + b"\x81",
        "dictionary with methods": built(called("collections", "OrderedDict"), table(items=name("os", "system"))),
        "dictionary of no pairs": called("collections", "OrderedDict", b"](" + number(1) + number(2) + b"e"),
        "settings with a class": built(configured, table(_content=name("typing", "Any"))),
        "settings of settings": built(configured, built(configured, table(_content=b"N"))),
    }


def structures(command: bytes) -> dict[str, bytes]:
    """Return hostile pickles that need no class."""
    return {
        "list in itself": b"]q\x09h\x09a",
        "table in itself": b"}q\x09" + text("a") + b"h\x09s",
        "lists in lists": b"]" * 100_000 + b"a" * 99_999,
        "tuples in tuples": b")" + b"\x85" * 100_000,
        "key of a list": b"}]Ns",
        "key of a class": b"}" + name("typing", "Any") + b"Ns",
        "state of a number": number(1) + table() + b"b",
        "call of a number": number(1) + b")R",
        "call of text": text("os.system") + group(command) + b"R",
        "item of a number": number(1) + text("a") + b"Ns",
        "nothing recalled": b"h\xee",
        "more than one": b"NN",
        "nothing": b"0",
        "no mark": b"t",
        "text beyond the end": b"X\xff\xff\xff\x7fab",
        **{f"operation {written!r}": written for written in FOREIGN},
    }


# Of other protocols, each a way of its own to a class or a call
FOREIGN = (
    b"(ios\nsystem\n",
    b"(cos\nsystem\nX\x01\x00\x00\x00xo",
    b"\x8c\x02os\x8c\x06system\x93",
    b"\x82\x01",
    b"\x83\x01\x00",
    b"cos\nsystem\n)}\x92",
    b"Pstorage\n",
    b"\x8f",
    b"\x96\x01\x00\x00\x00\x00\x00\x00\x00a",
    b"\x97",
    b"\x95\x01\x00\x00\x00\x00\x00\x00\x00N",
    b"S'a'\n",
    b"I1\n",
    b"\x8b\xff\xff\xff\xff",
)
# The reader knows 15 names and refuses any other in one place: one name of a kind stands for all
CALLED = """
    os:system __builtin__:eval __builtin__:getattr __builtin__:bytearray functools:partial numpy:ndarray numpy:load
    torch:load torch:Tensor torch._utils:_rebuild_sparse_tensor torch._tensor:_rebuild_from_type_v2
    torch.storage:UntypedStorage omegaconf.omegaconf:OmegaConf omegaconf.base:Metadata collections:defaultdict
    copy_reg:_reconstructor fairseq.utils:import_user_module realformer_nmt.checkpoints.files.rebuilders:Values
"""


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

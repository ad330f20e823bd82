"""Checkpoints that nobody's training saved: pickles that would act, tensors beyond their numbers, settings that act."""

import copy
import io
import pickle
import zipfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

State = dict[str, Any]
MARK = "hostile-mark"  # in every text that must not come through


def text(value: str) -> bytes:
    encoded = value.encode()
    return b"X" + len(encoded).to_bytes(4, "little") + encoded


def name(module: str, attribute: str) -> bytes:
    return f"c{module}\n{attribute}\n".encode()


def number(value: int) -> bytes:
    return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)


def group(*items: bytes) -> bytes:
    return b"(" + b"".join(items) + b"t"


def called(module: str, attribute: str, *arguments: bytes) -> bytes:
    return name(module, attribute) + group(*arguments) + b"R"


def raw(content: bytes) -> bytes:
    """As protocol 2 writes bytes."""
    return called("_codecs", "encode", text(content.decode("latin1")), text("latin1"))


def storage(key: str = "0", length: int = 4, kind: str = "FloatStorage") -> bytes:
    return group(text("storage"), name("torch", kind), text(key), text("cpu"), number(length)) + b"Q"


def tensor(place: bytes, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *more: bytes) -> bytes:
    shapes = (group(*map(number, size)), group(*map(number, stride)))
    hooks = called("collections", "OrderedDict")
    return called("torch._utils", "_rebuild_tensor_v2", place, number(offset), *shapes, b"\x89", hooks, *more)


def array(kind: str, content: bytes, *shape: int, order: str = "<", columns: bytes = b"\x89") -> bytes:
    dtype = called("numpy", "dtype", text(kind), b"\x89", b"\x88")
    dtype += group(number(3), text(order), b"N", b"N", b"N", number(-1), number(-1), number(0)) + b"b"
    made = called("numpy._core.multiarray", "_reconstruct", name("numpy", "ndarray"), group(number(0)), raw(b"b"))
    return made + group(number(1), group(*map(number, shape)), dtype, columns, raw(content)) + b"b"


def built(made: bytes, state: bytes) -> bytes:
    return made + state + b"b"


def table(**items: bytes) -> bytes:
    return b"}(" + b"".join(text(key) + value for key, value in items.items()) + b"u"


def namespace(**items: bytes) -> bytes:
    return built(name("argparse", "Namespace") + b")\x81", table(**items))


def pickles(proof: Path) -> dict[str, bytes]:
    """What would stand in the place of the model's weights."""
    command = text(f"touch {proof}")
    eight = (0x4141414141414141).to_bytes(8, "little")
    dtype_of_objects = called("numpy", "dtype", text("O"), b"\x89", b"\x88")
    configured = name("omegaconf.dictconfig", "DictConfig") + b")\x81"
    return {
        **{f"{module}.{attribute}": called(module, attribute, command) for module, attribute in CALLED},
        **{
            f"{module}.{attribute} made": name(module, attribute) + group(command) + b"\x81"
            for module, attribute in CALLED
        },
        **{f"{module}.{attribute} named": name(module, attribute) for module, attribute in CALLED},
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
        "tensor before its numbers": tensor(storage(), -4, (4,), (1,)),
        "tensor behind its numbers": tensor(storage(), 2, (4,), (1,)),
        "tensor backwards": tensor(storage(), 3, (4,), (-1,)),
        "tensor of a wide step": tensor(storage(), 0, (2,), (1 << 40,)),
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
CALLED = (
    *(("os", "system"), ("posix", "system"), ("subprocess", "Popen"), ("shutil", "rmtree"), ("runpy", "_run_code")),
    *(("__builtin__", "eval"), ("builtins", "exec"), ("__builtin__", "getattr"), ("__builtin__", "open")),
    *(
        ("__builtin__", "__import__"),
        ("importlib", "import_module"),
        ("functools", "partial"),
        ("operator", "attrgetter"),
    ),
    *(("numpy", "ndarray"), ("numpy", "dtype"), ("numpy", "load"), ("numpy", "memmap"), ("numpy.dtypes", "Int64DType")),
    *(("torch", "load"), ("torch", "Tensor"), ("torch", "device"), ("torch.nn.parameter", "Parameter")),
    *(
        ("torch.jit", "load"),
        ("torch.hub", "load"),
        ("torch.ops", "load_library"),
        ("torch.serialization", "_get_layout"),
    ),
    *(
        ("torch._utils", f"_rebuild_{kind}")
        for kind in ("sparse_tensor", "nested_tensor", "qtensor", "wrapper_subclass")
    ),
    *(
        ("torch._utils", f"_rebuild_{kind}")
        for kind in ("meta_tensor_no_storage", "device_tensor_from_numpy", "tensor")
    ),
    *(("torch._tensor", "_rebuild_from_type_v2"), ("torch.storage", "UntypedStorage"), ("torch", "FloatStorage")),
    *(("omegaconf.omegaconf", "OmegaConf"), ("omegaconf.base", "Metadata"), ("omegaconf.base", "ContainerMetadata")),
    *(("omegaconf.nodes", "StringNode"), ("omegaconf.nodes", "EnumNode"), ("typing", "Any"), ("__builtin__", "dict")),
    *(("collections", "defaultdict"), ("collections", "Counter"), ("__builtin__", "set"), ("__builtin__", "complex")),
    *(("__builtin__", "bytearray"), ("_codecs", "decode"), ("codecs", "open"), ("copy_reg", "_reconstructor")),
    *(("fairseq.data.dictionary", "Dictionary"), ("fairseq.utils", "import_user_module"), ("_io", "FileIO")),
    *(
        ("fairseq.distributed.utils", "_TensorPlaceholder"),
        ("realformer_nmt.checkpoints.stand_ins", "Values"),
        ("types", "CodeType"),
    ),
)


def packed(pickled: bytes) -> bytes:
    """A whole archive as torch.save writes it, with four floats, and with this pickle in the place of its model."""
    stream = io.BytesIO()
    content = b"\x80\x02" + b"}(" + text("model") + pickled + text("cfg") + b"Nu."
    numbers = torch.ones(4).numpy().tobytes()
    records = {"data.pkl": content, "byteorder": b"little", "data/0": numbers, "version": b"3\n"}
    with zipfile.ZipFile(stream, "w") as archive:
        for record, held in records.items():
            archive.writestr(f"archive/{record}", held)
    return stream.getvalue()


def older(pickled: bytes) -> bytes:
    """The same as torch wrote it before 1.6."""
    numbers = torch.ones(4).numpy().tobytes()
    start = [pickle.dumps(value, 2) for value in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})]
    content = b"\x80\x02" + b"}(" + text("model") + pickled + text("cfg") + b"Nu."
    return b"".join([*start, content, pickle.dumps(["0"], 2), (4).to_bytes(8, "little"), numbers])


def settings(proof: Path) -> Iterator[tuple[str, Callable[[State], None]]]:
    """Changes of a good checkpoint's settings: what each is, and how it is made."""
    here = f"{proof}/{MARK}"
    url = f"http://127.0.0.1:9/{MARK}"
    looked_up = f"${{oc.env:HOME}}/{MARK}"
    for group_of in ("model", "task", "criterion", "bpe", "tokenizer"):
        for other in OTHERS[group_of]:
            yield f"{group_of} {other}", put(group_of, {"_name": other, **dict.fromkeys(ACTING, here)})
            yield (
                f"{group_of} {other} of options",
                put(group_of, Namespace(**{group_of: other}, _name=other, arch=other)),
            )
        for given in (MARK, [MARK], {"_name": [MARK]}, {MARK: {"_name": MARK}}, {"_name": looked_up}):
            yield f"{group_of} {given}", put(group_of, given)
    for given in (here, url, looked_up, [looked_up], {"a": looked_up}):
        for field in ACTING:
            for group_of in (
                "task",
                "criterion",
                "common",
                "dataset",
                "checkpoint",
                "generation",
                "common_eval",
                "model",
            ):
                yield f"{group_of}.{field} {given}", change(group_of, field, given)
    for field in ("eval_bleu_args", "eval_bleu_detok_args"):
        for given in (f'{{"lm_path": "{here}"}}', f'{{"tokenizer": "{MARK}"}}', MARK, f'["{MARK}"]', looked_up):
            yield f"task.{field} {given}", change("task", field, given)
    for field in ("source_lang", "target_lang"):
        for given in (
            f"../../{MARK}",
            f"$({MARK})",
            f"{MARK}/x",
            f"a {MARK}",
            f"{MARK}\0",
            looked_up,
            [MARK],
            f"{MARK}\n",
        ):
            yield f"task.{field} {given!r}", change("task", field, given)


OTHERS = {
    "model": ("wav2vec2", "transformer_from_pretrained_xlm", "fconv_self_att", "bart_large", "roberta", "hf_gpt2"),
    "task": (
        "denoising",
        "sentence_ranking",
        "language_modeling",
        "translation_from_pretrained_bart",
        "audio_pretraining",
    ),
    "criterion": ("sentence_ranking", "sentence_prediction", "wav2vec", "ctc", "composite_loss"),
    "bpe": ("gpt2", "hf_byte_bpe", "bert", "byte_bpe"),
    "tokenizer": ("fastbpe", "os.system"),
}
ACTING = (  # fields that open, fetch, import or write
    *(
        "save_predictions",
        "user_dir",
        "tensorboard_logdir",
        "wandb_project",
        "log_file",
        "path",
        "replace_unk",
        "lm_path",
    ),
    *("encoder_embed_path", "decoder_embed_path", "pretrained_checkpoint", "lang_dict", "source_dict", "target_dict"),
    *("fixed_dictionary", "dataset_impl", "bpe_codes", "sentencepiece_model", "gpt2_encoder_json", "restore_file"),
    *(
        "finetune_from_model",
        "save_dir",
        "results_path",
        "model_overrides",
        "w2v_path",
        "extra_data",
        "virtual_data_size",
    ),
)


def put(group_of: str, value: Any) -> Callable[[State], None]:
    def change_state(state: State) -> None:
        state["cfg"][group_of] = value

    return change_state


def change(group_of: str, field: str, value: Any) -> Callable[[State], None]:
    def change_state(state: State) -> None:
        given = state["cfg"][group_of]
        if isinstance(given, Namespace):
            setattr(given, field, value)
        else:
            state["cfg"][group_of] = {**(given or {}), field: value}

    return change_state


def changed(state: State, how: Callable[[State], None]) -> State:
    copied = {**state, "cfg": copy.deepcopy(state["cfg"])}
    how(copied)
    return copied

"""The words of a pickle, protocol 2, and what torch and numpy write with them: to write pickles that nobody would."""


def text(value: str) -> bytes:
    encoded = value.encode()
    return b"X" + len(encoded).to_bytes(4, "little") + encoded


def name(module: str, attribute: str) -> bytes:
    return f"c{module}\n{attribute}\n".encode()


def number(value: int) -> bytes:
    length = max(8, value.bit_length() // 8 + 1)
    return bytes((0x8A, length)) + value.to_bytes(length, "little", signed=True)


def group(*items: bytes) -> bytes:
    return b"(" + b"".join(items) + b"t"


def called(module: str, attribute: str, *arguments: bytes) -> bytes:
    return name(module, attribute) + group(*arguments) + b"R"


def raw(content: bytes) -> bytes:
    """Return bytes as protocol 2 writes them."""
    return called("_codecs", "encode", text(content.decode("latin1")), text("latin1"))


def storage(key: str = "0", length: int = 4, kind: str = "FloatStorage") -> bytes:
    return group(text("storage"), name("torch", kind), text(key), text("cpu"), number(length)) + b"Q"


def tensor(place: bytes, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *more: bytes) -> bytes:
    shapes = (group(*map(number, size)), group(*map(number, stride)))
    hooks = called("collections", "OrderedDict")
    return called("torch._utils", "_rebuild_tensor_v2", place, number(offset), *shapes, b"\x89", hooks, *more)


def dtype(kind: str, order: str) -> bytes:
    of_kind = called("numpy", "dtype", text(kind), b"\x89", b"\x88")
    return of_kind + group(number(3), text(order), b"N", b"N", b"N", number(-1), number(-1), number(0)) + b"b"


def scalar(kind: str, content: bytes, order: str = "<") -> bytes:
    return called("numpy._core.multiarray", "scalar", dtype(kind, order), content)


def array(kind: str, content: bytes, *shape: int, order: str = "<", columns: bytes = b"\x89") -> bytes:
    empty_array = called(
        "numpy._core.multiarray", "_reconstruct", name("numpy", "ndarray"), group(number(0)), raw(b"b")
    )
    return empty_array + group(number(1), group(*map(number, shape)), dtype(kind, order), columns, raw(content)) + b"b"


def built(instance: bytes, state: bytes) -> bytes:
    return instance + state + b"b"


def table(**items: bytes) -> bytes:
    return b"}(" + b"".join(text(key) + value for key, value in items.items()) + b"u"


def namespace(**items: bytes) -> bytes:
    return built(name("argparse", "Namespace") + b")\x81", table(**items))

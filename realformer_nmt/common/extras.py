"""The extras of the package: what to install for a command whose libraries are missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from realformer_nmt.common.errors import UserError

EXTRAS = {  # by the module that is imported
    **dict.fromkeys(("sacremoses", "sentencepiece", "subword_nmt"), "recipes"),
    "matplotlib": "analyse",
    **dict.fromkeys(("jinja2", "rich"), "compare"),
    **dict.fromkeys(("fastapi", "h11", "pydantic", "starlette", "uvicorn"), "serve"),
    **dict.fromkeys(("onnx", "onnxruntime", "onnxscript"), "onnx"),
    **dict.fromkeys(("safetensors", "transformers"), "huggingface"),
    "ctranslate2": "ctranslate2",
}


def check(extra: str | None) -> None:
    """Raise an error for the first library of an extra that is not installed."""
    for module, its_extra in EXTRAS.items():
        if its_extra == extra and find_spec(module) is None:
            raise ModuleNotFoundError(f"{module} is not installed: {pip_install(its_extra)}", name=module)


@contextmanager
def user_errors(command: str) -> Iterator[None]:
    """Raise a UserError that names the extra where an import does not find a module of one."""
    try:
        yield
    except ModuleNotFoundError as error:
        if missing := advice(error):
            raise UserError(f"{command} {missing}") from error
        raise


def advice(error: BaseException) -> str | None:
    """Return the command that brings the module that an import did not find, or None for any other error."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    module = error.name.partition(".")[0]
    if module == "fairseq":
        return "needs fairseq: run `realformer-nmt install-engine`"
    return f"needs {module}: {pip_install(EXTRAS[module])}" if module in EXTRAS else None


def pip_install(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'realformer-nmt[{extra}]'"

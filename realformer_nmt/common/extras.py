"""The extras of the package: what to install for a command whose libraries are missing."""

EXTRAS = {  # by the module that is imported
    **dict.fromkeys(("sacremoses", "sentencepiece", "subword_nmt"), "recipes"),
    "matplotlib": "analyse",
    **dict.fromkeys(("jinja2", "rich"), "compare"),
    **dict.fromkeys(("fastapi", "h11", "pydantic", "starlette", "uvicorn"), "serve"),
    **dict.fromkeys(("onnx", "onnxruntime", "onnxscript"), "onnx"),
    **dict.fromkeys(("safetensors", "transformers"), "huggingface"),
    "ctranslate2": "ctranslate2",
    "shtab": "completion",
}


def advice(error: BaseException) -> str | None:
    """Return which extra brings the module that an import did not find, or None for any other error."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    module = error.name.partition(".")[0]
    extra = EXTRAS.get(module)
    return f"needs {module}: pip install 'realformer-nmt[{extra}]'" if extra else None

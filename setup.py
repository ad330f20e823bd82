"""The extension in C; everything else that pip installs stands in pyproject.toml."""

from pathlib import Path

from setuptools import Extension, setup

NATIVE = Path("realformer_nmt/kernels/native")

setup(
    ext_modules=[  # where it cannot be built, all works without it
        Extension(
            "realformer_nmt.kernels.native._kernels",
            sorted(map(str, NATIVE.glob("*.c"))),
            depends=sorted(map(str, NATIVE.glob("*.h"))),
            extra_compile_args=["-O3"],
            libraries=["dl"],
            optional=True,
        )
    ],
)

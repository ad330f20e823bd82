"""The papers' training settings, typed by hand from them; nothing here is read from the package."""

from typing import NamedTuple


class Row(NamedTuple):
    protocol: str
    corpus: str
    layers: str
    optimizer: str
    lr: float
    schedule: str
    warmup: int
    length: tuple[str, int]
    gpus: int
    max_tokens: int
    update_freq: int
    tokens: int  # a step
    average: tuple[str, int]
    decoding: dict[str, float]


DE, FR, IWSLT = "wmt14_en_de", "wmt14_en_fr", "iwslt14_de_en"
GERMAN, FRENCH = {"beam": 4, "lenpen": 0.6}, {"beam": 5, "lenpen": 0.8}
XIE = {"beam": 5, "lenpen": 1, "max-len-a": 1.2, "max-len-b": 10}
EPOCHS, UPDATES = "max-epoch", "max-update"
LINEAR, ROOT = "linear", "inverse_sqrt"
ROWS = [
    Row("realformer", DE, "6", "radam", 5e-4, LINEAR, 8000, (EPOCHS, 50), 4, 8192, 1, 32_768, ("last", 25), GERMAN),
    Row("realformer", DE, "18", "radam", 5e-4, LINEAR, 8000, (EPOCHS, 50), 4, 8192, 1, 32_768, ("last", 25), GERMAN),
    Row("realformer", FR, "6", "radam", 1.2e-3, LINEAR, 8000, (EPOCHS, 50), 8, 8000, 10, 640_000, ("last", 25), FRENCH),
    Row(
        *("realformer", FR, "60-12", "radam", 1.2e-3, LINEAR, 8000, (EPOCHS, 50)),
        *(16, 5000, 16, 1_280_000, ("last", 25), FRENCH),
    ),
    Row("admin", DE, "18", "radam", 1e-3, ROOT, 8000, (EPOCHS, 100), 4, 8192, 1, 32_768, ("last", 10), GERMAN),
    Row("admin", FR, "6", "radam", 7e-4, ROOT, 8000, (EPOCHS, 50), 8, 8000, 10, 640_000, ("last", 10), FRENCH),
    Row("admin", FR, "60-12", "radam", 7e-4, ROOT, 8000, (EPOCHS, 50), 16, 5000, 16, 1_280_000, ("last", 10), FRENCH),
    Row("residual", DE, "6", "adam", 1e-3, ROOT, 4000, (UPDATES, 50_000), 1, 4096, 16, 65_536, ("last", 10), XIE),
    Row("residual", IWSLT, "6", "adam", 5e-4, ROOT, 4000, (UPDATES, 500_000), 1, 4096, 1, 4096, ("best", 1), XIE),
]
NAMES = [f"{row.protocol}-{row.corpus}-{row.layers}" for row in ROWS]
EVERYWHERE = {  # the same in every row
    "adam-betas": "(0.9, 0.98)",
    "label-smoothing": 0.1,
    "clip-norm": 0,
    "warmup-init-lr": 1e-7,
    "seed": 1111,
    "attention-dropout": 0.1,
    "activation-dropout": 0.1,
    "share-all-embeddings": True,
    "update-epoch-batch-itr": 1,
}

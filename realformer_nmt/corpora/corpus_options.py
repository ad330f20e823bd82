"""The options for reading text as a model does: a prepared folder, or the data-bin and its subwords."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from realformer_nmt.common.requests.option import option
from realformer_nmt.common.requests.request import Request
from realformer_nmt.corpora.subwords.subword_methods import METHODS

TOKENISED = ", ".join(name for name, method in METHODS.items() if method.tokenised)
GROUP = "the corpus: a prepared folder, or the other options"
LANGUAGES = "the pair, for a model of many languages"


@dataclass(frozen=True, kw_only=True)
class CorpusOptions(Request):
    """Base of requests that read text as a model does."""

    prepared: Path | None = option(
        "folder of `realformer-nmt prepare` (default: the one that the model was trained on)",
        None,
        metavar="FOLDER",
        group=GROUP,
    )
    data: Path | None = option("data-bin of the trained model", None, metavar="FOLDER", group=GROUP)
    subwords: str | None = option("how the data-bin was split into subwords", None, choices=METHODS, group=GROUP)
    subwords_folder: Path | None = option("folder with the subword model", None, metavar="FOLDER", group=GROUP)
    hyphens: Literal["aggressive", "plain"] | None = option(
        f"for {TOKENISED}: how the tokeniser treated hyphens, with Moses' -a or without", None, group=GROUP
    )
    source_language: str | None = option(
        "language of the text, such as en or eng_Latn", None, metavar="LANGUAGE", group=LANGUAGES
    )
    target_language: str | None = option("language to translate into", None, metavar="LANGUAGE", group=LANGUAGES)

    def says_corpus(self) -> bool:
        return any(value is not None for value in (self.prepared, self.data, self.subwords))

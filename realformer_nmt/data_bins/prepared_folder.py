"""The names in a folder of `realformer-nmt prepare`."""

from dataclasses import dataclass
from pathlib import Path

from realformer_nmt.data_bins.file_checks import NAME

TEXT, SUBWORDS, SUBWORD_TEXT, DATA = "text", "subwords", "pieces", "data-bin"  # the folder of each step


@dataclass(frozen=True)
class PreparedFolder:
    """A folder of `realformer-nmt prepare`."""

    path: Path

    @property
    def record(self) -> Path:
        return self.path / NAME

    @property
    def data(self) -> Path:
        return self.path / DATA

    @property
    def subwords(self) -> Path:
        return self.path / SUBWORDS

    @property
    def text(self) -> Path:
        """The cleaned text, which is removed when it has been split into subwords."""
        return self.path / TEXT

    @property
    def subword_text(self) -> Path:
        """The text as subwords, which is removed when it has been binarised."""
        return self.path / SUBWORD_TEXT

    def raw(self, split: str, language: str) -> Path:
        """Return the path of a split's text before it was cleaned; train has none."""
        return self.path / f"{split}.raw.{language}"

    def dictionary(self, language: str) -> Path:
        return self.data / f"dict.{language}.txt"

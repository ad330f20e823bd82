"""What every model does before it decodes."""

from typing import Any

from fairseq.models import BaseFairseqModel


class DecodingModel(BaseFairseqModel):
    """Its layers multiply in the precision that it was built with."""

    decoding_precision = "fp32"

    def make_generation_fast_(self, name: str | None = None, **options: Any) -> None:
        """fairseq names a model within another, whose layers the outer one calls itself."""
        if name is None:
            super().make_generation_fast_(**{"precision": self.decoding_precision, **options})

"""The base class that prepares a model for decoding."""

from typing import Any

from fairseq.models import BaseFairseqModel

from realformer_nmt.common.errors import UserError
from realformer_nmt.kernels.free_fp32 import release
from realformer_nmt.kernels.linear import RELEASED
from realformer_nmt.kernels.precision import EXACT


class DecodingModel(BaseFairseqModel):
    """Model whose layers, when it decodes, multiply in the precision that it was built with."""

    decoding_precision = EXACT
    _released = False

    def make_generation_fast_(self, name: str | None = None, **options: Any) -> None:
        """Prepare for decoding; a model with a name is inside another, which prepares its layers itself."""
        if name is None:
            options = {"precision": self.decoding_precision, **options}
            super().make_generation_fast_(**options)
            if options["precision"] != EXACT:
                release(self)
                self._released = True

    def state_dict(self, *args: Any, **options: Any) -> Any:
        if self._released:
            raise UserError(RELEASED)
        return super().state_dict(*args, **options)

"""Search for the largest logits of each row, by one call of C for each part of the vocabulary."""

import torch
from torch import Tensor

from realformer_nmt.kernels.native.library import built


class Search:
    """Search among words from `first` on; the words before count in the sum only."""

    def __init__(self, rows: int, first: int, number: int) -> None:
        self.first, self.number, self.seen = first, number, 0
        self.values = torch.full((rows, number), -torch.inf)  # in order
        self.words = torch.arange(first, first + number).repeat(rows, 1)
        self.most, self.total = torch.full((rows, 1), -torch.inf), torch.zeros(rows, 1)

    def add(self, logits: Tensor) -> None:
        """Add the logits of the next words, rows x words, in fp32 on the CPU."""
        built().best(
            logits=logits.contiguous(),
            values=self.values,
            words=self.words,
            most=self.most,
            total=self.total,
            seen=self.seen,
            first=self.first,
            threads=torch.get_num_threads(),
        )
        self.seen += logits.size(1)

    def log_of_sum(self) -> Tensor:
        """Return log sum exp over all words: rows x 1."""
        return self.total.log().add_(self.most)

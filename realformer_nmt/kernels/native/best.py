"""The best words of each row, gathered from pieces of the vocabulary by one call each."""

import torch
from torch import Tensor

from realformer_nmt.kernels.native.library import kernels


class Search:
    """Among words from `first` on; the words before are in the sum alone."""

    def __init__(self, rows: int, first: int, number: int) -> None:
        self.first, self.number, self.seen = first, number, 0
        self.values = torch.full((rows, number), -torch.inf)  # in order
        self.words = torch.arange(first, first + number).repeat(rows, 1)
        self.most, self.total = torch.full((rows, 1), -torch.inf), torch.zeros(rows, 1)

    def add(self, logits: Tensor) -> None:
        """Of the next words, rows x words, in fp32 on the CPU."""
        logits, (rows, words) = logits.contiguous(), logits.shape
        state = (logits, self.values, self.words, self.most, self.total)
        places = (part.data_ptr() for part in state)
        kernels().best(*places, rows, words, self.seen, self.first, self.number, torch.get_num_threads())
        self.seen += words

    def log_of_sum(self) -> Tensor:
        """log sum exp over all words: rows x 1."""
        return self.total.log().add_(self.most)

"""How often values come, of any number of them in fixed memory: what a violin is drawn from."""

import torch
from torch import Tensor

BINS = 1024


class Distribution:
    """Of each row's values, which lie between 0 and `top`; a quantile is right to a bin's width, top / 1024."""

    def __init__(self, rows: int, top: float) -> None:
        self.top, self.counts = top, torch.zeros(rows, BINS, dtype=torch.long)
        self.sums = torch.zeros(rows, dtype=torch.float64)

    def add(self, values: Tensor) -> None:
        """rows x N"""
        rows = torch.arange(len(self.counts), device=values.device).unsqueeze(1)
        bins = (values / self.top * BINS).long().clamp(0, BINS - 1) + rows * BINS
        found = torch.bincount(bins.flatten(), minlength=self.counts.numel())
        self.counts += found.view_as(self.counts).cpu()
        self.sums += values.double().sum(1).cpu()

    def mean(self) -> Tensor:
        return self.sums / self.counts.sum(1)

    def quantile(self, share: float) -> Tensor:
        """Within its bin, values are taken to be spread evenly."""
        reached = self.counts.cumsum(1).double()
        wanted = share * reached[:, -1:]
        place = torch.searchsorted(reached, wanted).clamp(max=BINS - 1)
        before = reached.gather(1, place) - self.counts.gather(1, place)
        inside = (wanted - before) / self.counts.gather(1, place).clamp(min=1)
        return ((place + inside) * self.top / BINS).squeeze(1)

    def outline(self, points: int) -> Tensor:
        """How many values are in each of so many parts of the range: rows x points, the largest is 1. The first is cut
        at 1: what sees one word alone is 0, and would make the rest too thin to see."""
        found = self.counts.view(len(self.counts), points, -1).sum(2).double()
        return (found / found[:, 1:].max(1, keepdim=True).values.clamp(min=1)).clamp(max=1)

"""Histograms of any number of values in fixed memory, from which violins are drawn."""

import torch
from torch import Tensor

BINS = 1024


class Distribution:
    """Histogram per row of values between 0 and `top`; quantiles are exact to a bin's width, top / 1024."""

    def __init__(self, rows: int, top: float) -> None:
        self.top, self.counts = top, torch.zeros(rows, BINS, dtype=torch.long)
        self.sums = torch.zeros(rows, dtype=torch.float64)

    def add(self, values: Tensor) -> None:
        """Add values, rows x N."""
        rows = torch.arange(len(self.counts), device=values.device).unsqueeze(1)
        bins = (values / self.top * BINS).long().clamp(0, BINS - 1) + rows * BINS
        counts = torch.bincount(bins.flatten(), minlength=self.counts.numel())
        self.counts += counts.view_as(self.counts).cpu()
        self.sums += values.double().sum(1).cpu()

    def mean(self) -> Tensor:
        return self.sums / self.counts.sum(1)

    def quantile(self, share: float) -> Tensor:
        """Return each row's quantile, as if values were spread evenly within a bin."""
        cumulative = self.counts.cumsum(1).double()
        rank = share * cumulative[:, -1:]
        index = torch.searchsorted(cumulative, rank).clamp(max=BINS - 1)
        in_bin = self.counts.gather(1, index)
        before = cumulative.gather(1, index) - in_bin
        fraction = (rank - before) / in_bin.clamp(min=1)
        return ((index + fraction) * self.top / BINS).squeeze(1)

    def outline(self, points: int) -> Tensor:
        """Return the relative frequencies in equal parts of the range, rows x points, of which the largest is 1.

        The first part is cut at 1: queries that see a single word are all 0, and would make the rest too thin to see.
        """
        frequencies = self.counts.view(len(self.counts), points, -1).sum(2).double()
        return (frequencies / frequencies[:, 1:].max(1, keepdim=True).values.clamp(min=1)).clamp(max=1)

"""Hyper-connections: several streams, of which a sub-layer reads a weighted sum and to which it writes with weights."""

import torch
from torch import Tensor, nn

from realformer_nmt.model.norms import rms_factor
from realformer_nmt.model.topologies.shortcuts import Shortcut
from realformer_nmt.model.topologies.topology import Norms, Place, PreLN, Stream

STREAMS = 4
READING, CARRYING = slice(1), slice(1, None)  # the columns of alpha


class Static(Norms):
    """a = e_{l mod n} for sub-layer l from 0, A = 1 and b = (1 ... 1) to begin with; A and a are one matrix."""

    def __init__(self, input_norm: nn.Module, number: int) -> None:
        super().__init__({"input_norm": input_norm})
        across = torch.eye(STREAMS)
        self.static_alpha = nn.Parameter(torch.cat([across[:, number % STREAMS, None], across], 1))  # n x (1 + n)
        self.static_beta = nn.Parameter(torch.ones(STREAMS))

    def reading(self, streams: Tensor) -> Tensor:
        return self.alpha(streams, READING).squeeze(-1)

    def carrying(self, streams: Tensor) -> Tensor:
        return self.alpha(streams, CARRYING)

    def alpha(self, _streams: Tensor, columns: slice) -> Tensor:
        return self.static_alpha[:, columns]

    def writing(self, _streams: Tensor) -> Tensor:
        return self.static_beta


class Dynamic(Static):
    """The same weights plus s tanh(W RMS(streams)) per position, s = 0.01 and W = 0 to begin with."""

    def __init__(self, input_norm: nn.Module, width: int, number: int) -> None:
        super().__init__(input_norm, number)
        self.stream_gain = nn.Parameter(torch.ones(width))
        self.dynamic_alpha = nn.Parameter(torch.zeros(width, 1 + STREAMS))
        self.dynamic_beta = nn.Parameter(torch.zeros(width))
        self.alpha_scale = nn.Parameter(torch.tensor(0.01))
        self.beta_scale = nn.Parameter(torch.tensor(0.01))

    def alpha(self, streams: Tensor, columns: slice) -> Tensor:
        dynamic = self.mapped(streams, self.dynamic_alpha[:, columns])
        return self.static_alpha[:, columns] + self.alpha_scale * torch.tanh(dynamic)

    def writing(self, streams: Tensor) -> Tensor:
        dynamic = self.mapped(streams, self.dynamic_beta.unsqueeze(-1)).squeeze(-1)
        return self.static_beta + self.beta_scale * torch.tanh(dynamic)

    def mapped(self, streams: Tensor, weight: Tensor) -> Tensor:
        """Return RMS(streams) W; gains and roots are multiplied into the factors that are smaller than the streams."""
        product = streams @ (self.stream_gain.unsqueeze(-1) * weight)  # B x T x n x columns
        return rms_factor(streams).type_as(product) * product


class HyperStatic(PreLN):
    """h = shortcut(A h, b f(LN(a . h))), h four streams that start as the embedding; LN(sum of h) after the last layer.

    Hyper-connections (Zhu et al. 2024, 2409.19606) with weights that are the same for all positions. Before the first
    update it is Pre-LN. The module of a sub-layer makes of the streams, B x T x n x C, the weights `reading` and
    `writing`, n numbers, and `carrying`, n x n, from and to; they may be B x T x ... for a position each.
    """

    def norm(self, place: Place) -> nn.Module:
        return Static(self.new_norm(self.width), place.number)

    def enter(self, x: Tensor) -> Stream:
        return (x.unsqueeze(-2).expand(*x.shape[:-1], STREAMS, -1),)  # B x T x n x C

    def read(self, stream: Stream, norm: nn.Module, _place: Place) -> Tensor:
        (streams,) = stream
        weighted = norm("reading", streams).unsqueeze(-2) @ streams  # B x T x 1 x C
        normed: Tensor = norm("input_norm", weighted.squeeze(-2))
        return normed

    def write(self, stream: Stream, branch: Tensor, shortcut: Shortcut, norm: nn.Module, _place: Place) -> Stream:
        (streams,) = stream
        carried = norm("carrying", streams).transpose(-1, -2) @ streams
        return (shortcut(carried, norm("writing", streams).unsqueeze(-1) * branch.unsqueeze(-2)),)

    def leave(self, stream: Stream, final_norm: nn.Module) -> Tensor:
        output: Tensor = final_norm(stream[0].sum(-2))
        return output


class Hyper(HyperStatic):
    """The same with weights that depend on the streams: dynamic hyper-connections (Zhu et al. 2024).

    Checked against lucidrains/hyper-connections (4775103), whose norm of the streams is RMS; the paper's is LN.
    """

    def norm(self, place: Place) -> nn.Module:
        return Dynamic(self.new_norm(self.width), self.width, place.number)

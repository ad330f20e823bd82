"""How a shortcut around a sub-layer weighs the stream and the branch: called as `shortcut(x, branch)`."""

import math

import torch
from torch import Tensor, nn


class Shortcut(nn.Module):
    """Base of all shortcuts; `weight` is that of the stream, a scalar or one number per channel."""

    def weight(self) -> Tensor:
        return torch.ones(())

    def branch_weight(self) -> Tensor:
        return torch.ones(())

    def added(self, _x: Tensor, branch: Tensor) -> Tensor:
        """Return what is added to the weighed stream."""
        return self.branch_weight().to(branch) * branch

    def forward(self, x: Tensor, branch: Tensor) -> Tensor:
        return x + self.added(x, branch)


class Plain(Shortcut):
    """x + f(x)."""

    def forward(self, x: Tensor, branch: Tensor) -> Tensor:
        return x + branch


class Constant(Shortcut):
    """a * x + f(x)."""

    def __init__(self, a: float) -> None:
        super().__init__()
        self.a = a

    def weight(self) -> Tensor:
        return torch.tensor(self.a)

    def forward(self, x: Tensor, branch: Tensor) -> Tensor:
        return torch.add(branch, x, alpha=self.a)


class Trained(Shortcut):
    """w * x + f(x), one weight per channel, w = w0 + delta: ADMIN (Liu et al. 2020), section 4.

    w0 is a buffer, so that its value from the first forward pass reaches fp16 and sharded runs, whose optimisers have
    copied every parameter before that pass; delta starts at 0 and gets the updates that w would get.
    """

    w0: Tensor

    def __init__(self, width: int, w0: float) -> None:
        super().__init__()
        self.register_buffer("w0", torch.tensor(w0))
        self.delta = nn.Parameter(torch.zeros(width))

    def weight(self) -> Tensor:
        return self.w0 + self.delta

    def forward(self, x: Tensor, branch: Tensor) -> Tensor:
        return torch.addcmul(branch, x, self.weight())


class Profiled(Trained):
    """Trained weight whose w0 is set by admin_profile.py."""

    def __init__(self, width: int) -> None:
        super().__init__(width, 1.0)


class Decayed(Profiled):
    """w = share * w0 + delta: weight decay moves w itself to 0, as if w were a parameter.

    Nothing else changes share from 1: its gradient is 0, not None, so that the optimiser decays it. Plain gradient
    descent, and optimisers with decoupled weight decay (RAdam and fairseq's Adam), then update w as if it were a single
    parameter.
    """

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.share = nn.Parameter(torch.ones(1))

    def weight(self) -> Tensor:
        return (self.share.detach() + 0 * self.share) * self.w0 + self.delta


class ChannelScaled(Shortcut):
    """x + a f(x), one trained weight per channel: LayerScale (Touvron et al. 2021, 2103.17239)."""

    def __init__(self, width: int, a: float) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.full((width,), a))

    def branch_weight(self) -> Tensor:
        return self.a

    def forward(self, x: Tensor, branch: Tensor) -> Tensor:
        return torch.addcmul(x, branch, self.a)


class Growing(Shortcut):
    """x + a f(x) with a = min(t / t1, 1) at update t: ProRes (2603.05369), t1 = T l in layer l.

    Checked against dandingsky/ProRes. a is a buffer, so that a checkpoint decodes as it was trained. Updates are
    counted from 1, or the first would train nothing.
    """

    share: Tensor

    def __init__(self, updates: int) -> None:
        super().__init__()
        self.updates = updates
        self.register_buffer("share", torch.tensor(1 / updates))

    def set_num_updates(self, done: int) -> None:
        """Set a for the next update; finetuning, which counts updates from 0 again, does not make a smaller."""
        self.share.clamp_(min=min((done + 1) / self.updates, 1))

    def branch_weight(self) -> Tensor:
        return self.share

    def forward(self, x: Tensor, branch: Tensor) -> Tensor:
        return torch.addcmul(x, branch, self.share)


class Orthogonal(Shortcut):
    """x + f - x (x . f) / (x . x + 1e-6), f = f(x): only what is orthogonal to the stream is added (2505.11881).

    Checked against BootsofLagrangian/ortho-residual (4f663d3), its dot products over channels.
    """

    def added(self, x: Tensor, branch: Tensor) -> Tensor:
        exact = x.float()
        dot, square = ((exact * other.float()).sum(-1, keepdim=True) for other in (branch, x))
        return branch - (dot / (square + 1e-6)).type_as(x) * x


class LowRank(Shortcut):
    """x + f(x) + B A x, A r x d and B d x r, B from 0: LAuReL-LR (Menghani et al. 2024, 2411.07501), from the paper.

    A[j, i] starts as 1 / sqrt(r d) where i mod r = j and as 0 elsewhere, as in the authors' language models. Gemma 3n
    has another form: it adds RMS(B A x) and the normed x as a second shortcut.
    """

    def __init__(self, width: int, rank: int) -> None:
        super().__init__()
        rows = torch.eye(rank).repeat(1, math.ceil(width / rank))[:, :width]
        self.down = nn.Parameter(rows / math.sqrt(rank * width))
        self.up = nn.Parameter(torch.zeros(width, rank))

    def added(self, x: Tensor, branch: Tensor) -> Tensor:
        return branch + x @ self.down.t() @ self.up.t()

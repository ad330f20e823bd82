"""The order of the beams, which is computed on the GPU and needed here."""

from torch import Tensor


class OrderReader:
    """Copies an order from the GPU once, whoever asks: fairseq reorders the decoder's caches and then what the encoder
    gave by one and the same tensor. Nobody writes into that tensor in between."""

    def __init__(self) -> None:
        self.latest: tuple[Tensor, list[int]] | None = None

    def read(self, order: Tensor) -> list[int]:
        if self.latest is None or self.latest[0] is not order:
            self.latest = order, order.tolist()
        return self.latest[1]

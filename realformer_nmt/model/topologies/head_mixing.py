"""Steps in which the heads of an attention see each other: before the softmax, after it, and after the values."""

from torch import Tensor, nn


class HeadMixing(nn.Module):
    """Base of all mixings: heads do not see each other.

    All shapes are B x H x T x S, or D for the last; a view of an attention pattern may have more rows than B.
    """

    none = True  # so that kernels that hide the softmax may compute it

    def before_softmax(self, logits: Tensor) -> Tensor:
        """Return logits changed; they are not masked yet."""
        return logits

    def after_softmax(self, probabilities: Tensor) -> Tensor:
        """Return the weights of the values; probabilities have been through dropout."""
        return probabilities

    def after_values(self, heads: Tensor) -> Tensor:
        return heads

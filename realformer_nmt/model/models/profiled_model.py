"""The base class of all models: ADMIN's profile before training, and checks of loaded weights."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from realformer_nmt.model.models.admin_profile import is_pending, profile
from realformer_nmt.model.models.decoding_model import DecodingModel
from realformer_nmt.model.models.quick_passes import QuickPasses
from realformer_nmt.model.weights import checked


class ProfiledModel(QuickPasses, DecodingModel):
    """Model that takes ADMIN's profile on its first training batch; its children are its stacks."""

    _profile_checked = False

    def profile_once(self, run: Callable[[], object]) -> None:
        """Take the profile by one pass of `run`, unless the weights have one already or need none."""
        if not self.training or self._profile_checked:
            return
        self._profile_checked = True
        pending = [stack for stack in self.children() if is_pending(stack)]
        if pending:
            profile(pending, run)

    def load_state_dict(self, state_dict: dict[str, Tensor], *args: Any, **kwargs: Any) -> Any:
        self._profile_checked = False  # the loaded weights may lack a profile
        with checked(self, state_dict):
            return super().load_state_dict(state_dict, *args, **kwargs)

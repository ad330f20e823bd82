"""A training that has not started: its command, its configuration in fairseq and its length, each worked out once."""

import argparse
import functools
import shlex
from typing import Any

from realformer_nmt import tasks
from realformer_nmt.common.errors import UserError
from realformer_nmt.common.user_dir import for_fairseq
from realformer_nmt.protocols import command, fairseq_command
from realformer_nmt.protocols.command import Substitution
from realformer_nmt.protocols.running import updates
from realformer_nmt.protocols.train import TrainRequest

COUNTED = (  # flags of a protocol that change the number of batches, or have flags of their own
    *("batch-size", "required-seq-len-multiple", "skip-remainder-batch", "num-batch-buckets"),
    *("max-source-positions", "max-target-positions", "truncate-source", "upsample-primary"),
    *("criterion", "optimizer", "lr-scheduler"),
)


class PlannedTraining:
    """Training of a request, from the data-bin as it is now; whoever reads its configuration changes nothing in it."""

    def __init__(self, request: TrainRequest) -> None:
        self.request = request
        self.machines = fairseq_command.find_machines(request)
        self.prepared = fairseq_command.preparation(request)
        self.protocol = fairseq_command.load_protocol(request, self.prepared)
        self.flags = fairseq_command.compose(request, self.protocol, self.machines, self.prepared)

    @functools.cached_property
    def options(self) -> argparse.Namespace:
        """The flags as fairseq-train's parser reads them, which takes far less time than the whole configuration."""
        return updates.flags(self.flags)

    @functools.cached_property
    def cfg(self) -> Any:
        return updates.configure(vars(self.options), self.flags)

    @functools.cached_property
    def task(self) -> Any:
        return updates.set_up(self.cfg)

    @functools.cached_property
    def length(self) -> updates.Length:
        return updates.length(self.cfg, self.task, self.machines.ranks)

    @property
    def tokens_a_step(self) -> int:
        """Most tokens of an update in the first epoch."""
        size: int = self.cfg.dataset.max_tokens * self.cfg.optimization.update_freq[0]
        return self.machines.ranks * size

    def command(self) -> list[str]:
        """Return fairseq-train's whole command, its launcher included."""
        return [*self.machines.launcher(), *self.flags, *self._ending()]

    def check_warm_up(self) -> None:
        """Refuse a linear schedule that would end before its warm-up does."""
        if self._ends_with_training() and self.length.updates <= (warm_up := self.options.warmup_updates):
            raise UserError(
                f"{self.length.updates} updates end within the warm-up of {warm_up}: train longer, pass a smaller "
                "--tokens-a-step, or a shorter warm-up: -- --warmup-updates N"
            )

    def _ends_with_training(self) -> bool:
        return self.options.lr_scheduler == "linear" and not self.options.total_num_update

    def _ending(self) -> list[str]:
        """Return the last update of a linear schedule as flags; without a data-bin, a command that will count it."""
        if not self._ends_with_training():
            return []
        if not self.request.data.is_dir():
            return self._ending_without_data()
        self.check_warm_up()
        return ["--total-num-update", str(self.length.updates)]

    def _ending_without_data(self) -> list[str]:
        options, data = self.options, self.request.data
        if options.max_update:
            return []  # fairseq ends the schedule there by itself
        if not tasks.task_named(options.task).translates:
            raise UserError(f"{data} is not there, so that updates cannot be counted: make it first, or pass --updates")
        counting = ["realformer-nmt", "updates", str(data.absolute())]
        counting += ["--max-tokens", str(options.max_tokens), "--update-freq", str(options.update_freq[0])]
        counting += ["--gpus", str(self.machines.ranks), "--epochs", str(options.max_epoch)]
        if self.request.user_dir:
            counting += for_fairseq(self.request.user_dir)
        batches = {name: value for name, value in self.protocol.train.items() if name in COUNTED}
        room = updates.table_length(options)
        if room:  # longer sentences are left out
            batches |= {"score-source": options.score_source, "score-length": room}
        changing = [*command.flags(batches), *self.request.flags]
        return ["--total-num-update", Substitution(shlex.join([*counting, *(["--", *changing] if changing else [])]))]

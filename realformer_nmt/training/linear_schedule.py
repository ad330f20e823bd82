"""--lr-scheduler linear: a linear rise to the peak, then a linear fall to the end."""

from dataclasses import dataclass, field

from fairseq.dataclass import FairseqDataclass
from fairseq.optim import FairseqOptimizer
from fairseq.optim.lr_scheduler import FairseqLRScheduler, register_lr_scheduler
from omegaconf import II

from realformer_nmt.common.errors import OptionError


@dataclass
class LinearScheduleConfig(FairseqDataclass):
    warmup_updates: int = field(default=0, metadata={"help": "updates in which the learning rate rises to --lr"})
    warmup_init_lr: float = field(default=1e-7, metadata={"help": "learning rate at the start of the warm-up; -1: 0"})
    end_learning_rate: float = field(default=0.0, metadata={"help": "learning rate at the end and after it"})
    total_num_update: int = field(
        default=0,
        metadata={"help": "update at which the learning rate has come down; default: 0, which stands for --max-update"},
    )
    max_update: int = II("optimization.max_update")
    lr: list[float] = II("optimization.lr")


@register_lr_scheduler("linear", dataclass=LinearScheduleConfig)
class LinearSchedule(FairseqLRScheduler):
    """Linear warm-up and decay of the learning rate (He et al. 2021, arXiv 2012.11747).

    The rate of update n is, with w = --warmup-updates and N = --total-num-update or --max-update:

    n < w:       warmup_init_lr + (lr - warmup_init_lr) n / w
    w <= n < N:  lr + (end_learning_rate - lr) (n - w) / (N - w)
    n >= N:      end_learning_rate
    """

    def __init__(self, cfg: LinearScheduleConfig, optimizer: FairseqOptimizer) -> None:
        super().__init__(cfg, optimizer)
        self.total = cfg.total_num_update or cfg.max_update
        if len(cfg.lr) != 1:
            raise OptionError(f"--lr-scheduler linear has one peak, but --lr was given {list(cfg.lr)}: pass one number")
        if self.total <= 0:
            raise OptionError(
                "--lr-scheduler linear needs the update at which it ends: pass --total-num-update N or --max-update N "
                "(--max-epoch alone does not tell how many updates there will be)"
            )
        if self.total <= cfg.warmup_updates:
            raise OptionError(
                f"--lr-scheduler linear would end at update {self.total}, within its warm-up of {cfg.warmup_updates}: "
                "raise --total-num-update (or --max-update), or lower --warmup-updates"
            )
        self.step_update(0)

    def learning_rate(self, update: int) -> float:
        cfg: LinearScheduleConfig = self.cfg
        start, peak, end = max(0.0, cfg.warmup_init_lr), cfg.lr[0], cfg.end_learning_rate  # -1 is 0, as in inverse_sqrt
        warmup, total = cfg.warmup_updates, self.total
        if update < warmup:
            return start + (peak - start) * update / warmup
        if update < total:
            return peak + (end - peak) * (update - warmup) / (total - warmup)
        return end

    def step_update(self, num_updates: int) -> float:
        self.optimizer.set_lr(self.learning_rate(num_updates))
        return float(self.optimizer.get_lr())

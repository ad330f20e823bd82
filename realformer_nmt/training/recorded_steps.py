"""Forward and backward of a training, recorded once per batch shape and replayed: a GPU then waits for one launch.

A replay repeats operations with the addresses and the numbers that they had. So a batch is copied into the tensors that
the recording read, the scale of the loss is a tensor, gradients are added where they lay, and what a batch says of
itself in numbers is read from the batch.
"""

import logging
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from fairseq import metrics
from torch import Tensor, nn

Batch = Mapping[str, Any]
Shape = tuple[tuple[int, ...], ...]
Step = tuple[Tensor, int, Mapping[str, Any]]  # loss, sample size, logging output: what fairseq's train_step returns
logger = logging.getLogger(__name__)
MOST = 64  # shapes to record; the ladder of lengths makes 51
WARM_UP = 3  # passes before a recording, in which libraries allocate and choose their kernels


class CudaRecorder:
    """Record what a function does as CUDA graphs, which share one pool of memory: they never run at the same time."""

    def __init__(self) -> None:
        self.stream = torch.cuda.Stream()
        self.pool = torch.cuda.graph_pool_handle()

    def warm_up(self, run: Callable[[], object]) -> None:
        torch.cuda.reset_peak_memory_stats()  # check_room reads the peak of this shape
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream), ExitStack() as after:
            after.callback(torch.cuda.set_sync_debug_mode, "default")
            torch.cuda.set_sync_debug_mode("error")  # what waits raises here: while recording, it spoils CUDA's state
            for _ in range(WARM_UP):
                run()
        torch.cuda.current_stream().wait_stream(self.stream)

    def record(self, run: Callable[[], object]) -> Callable[[], None]:
        check_room()
        graph = torch.cuda.CUDAGraph()
        # "thread_local": else the thread that pins memory for the next batches ends the recording
        with torch.cuda.graph(graph, self.pool, self.stream, capture_error_mode="thread_local"):
            run()
        replay: Callable[[], None] = graph.replay
        return replay


def check_room() -> None:
    """Raise unless a step, the last of which was a warm-up, has room twice: once to be recorded and once to run."""
    torch.cuda.empty_cache()
    needed = torch.cuda.max_memory_allocated() - torch.cuda.memory_allocated()
    room = torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
    if room < 2 * needed:
        raise RuntimeError(f"{room / 1e9:.1f} GB are free or recordings', up to 2 x {needed / 1e9:.1f} GB are needed")


class ModelInTraining(NamedTuple):
    """A model in training, with all that a step needs besides its batch."""

    model: nn.Module
    criterion: Any
    optimizer: Any


class RecordedStep:
    """The step of one shape."""

    def __init__(self, recorder: CudaRecorder, training: ModelInTraining, batch: Batch) -> None:
        self.batch = copied(batch)
        self.scale = torch.ones((), device=batch["target"].device)
        self.results: dict[str, Tensor] = {}
        with torch.random.fork_rng([self.scale.device] if self.scale.is_cuda else []):
            with gradients_apart(training.model):
                recorder.warm_up(lambda: self._run(training))
            self._replay = recorder.record(lambda: self._run(training))

    def _run(self, training: ModelInTraining) -> None:
        loss, _, log = training.criterion(training.model, self.batch)
        (loss * self.scale).backward()
        self.results = {name: value for name, value in log.items() if isinstance(value, Tensor)}
        self.results["loss"] = loss.detach()

    def replay(self, training: ModelInTraining, batch: Batch) -> Step:
        fill(self.batch, batch)
        scaler = getattr(training.optimizer, "scaler", None)
        self.scale.fill_(scaler.loss_scale if scaler else 1.0)
        self._replay()
        training.optimizer._needs_sync = True  # which fairseq's optimizers of 16 bits read, and others ignore
        sentence_avg = training.criterion.sentence_avg
        numbers = {"ntokens": batch["ntokens"], "nsentences": batch["nsentences"]}
        sample_size = numbers["nsentences" if sentence_avg else "ntokens"]
        log = {**{name: value.clone() for name, value in self.results.items()}, **numbers, "sample_size": sample_size}
        return log["loss"], sample_size, log


class RecordedSteps:
    """The steps of a training by shape. A shape's first batch is not recorded: it allocates the gradients."""

    def __init__(self, recorder: CudaRecorder, most: int = MOST) -> None:
        self.recorder, self.most = recorder, most
        self.steps: dict[Shape, RecordedStep | None] = {}
        self.seen: dict[Shape, Batch] = {}
        self.gradients: dict[nn.Parameter, Tensor] = {}

    def step(self, training: ModelInTraining, batch: Batch, run: Callable[[], Step]) -> Step:
        """Replay the step of a batch's shape, or run it if it is not recorded."""
        recorded = self._recorded(training, batch)
        metrics.log_scalar("replayed", float(recorded is not None), round=2)
        if recorded:
            return recorded.replay(training, batch)
        try:
            result = run()
        except torch.cuda.OutOfMemoryError:
            self.steps = dict.fromkeys(self.steps)  # the recordings' memory is needed
            raise
        weights = training.model.parameters()
        self.gradients = {weight: weight.grad for weight in weights if weight.grad is not None}
        return result

    def _recorded(self, training: ModelInTraining, batch: Batch) -> RecordedStep | None:
        shape = shape_of(batch)
        if shape not in self.seen:
            self.seen[shape] = batch
            return None
        if shape not in self.steps:
            self._record_from_largest_to(shape, training)
        return self.steps[shape]

    def _record_from_largest_to(self, last: Shape, training: ModelInTraining) -> None:
        """Record a shape after all larger ones seen so far, so that the memory that they share grows once."""
        larger = [shape for shape in self.seen if tokens_of(shape) >= tokens_of(last) and shape not in self.steps]
        for shape in sorted(larger, key=tokens_of, reverse=True):
            is_room = len(self.steps) < self.most
            self.steps[shape] = self._record(training, self.seen[shape]) if is_room else None

    def _record(self, training: ModelInTraining, batch: Batch) -> RecordedStep | None:
        shape = list(batch["target"].shape)
        try:
            recorded = RecordedStep(self.recorder, training, batch)
        except RuntimeError as error:
            logger.warning("steps of shape %s are not recorded: %s", shape, str(error).partition("\n")[0])
            return None
        logger.info("recorded the step of shape %s, the %d. of %d at most", shape, len(self.steps) + 1, self.most)
        return recorded

    def clear_gradients(self, clear: Callable[[], None]) -> None:
        """Clear all gradients by fairseq's way, but in place: a replay adds to them where they lay."""
        clear()
        if self.gradients:
            torch._foreach_zero_(list(self.gradients.values()))
        for weight, gradient in self.gradients.items():
            weight.grad = gradient


def shape_of(batch: Batch) -> Shape:
    return tuple(tuple(tensor.shape) for tensor in tensors(batch))


def tokens_of(shape: Shape) -> int:
    return sum(math.prod(sizes) for sizes in shape)


def tensors(batch: Batch) -> Iterator[Tensor]:
    """Yield the tensors of a batch that its loss reads."""
    yield from (value for value in batch["net_input"].values() if isinstance(value, Tensor))
    yield batch["target"]


def copied(batch: Batch) -> Batch:
    net_input = {name: value.clone() for name, value in batch["net_input"].items()}
    return {**batch, "net_input": net_input, "target": batch["target"].clone()}


def fill(recorded: Batch, batch: Batch) -> None:
    for old, new in zip(tensors(recorded), tensors(batch), strict=True):
        old.copy_(new, non_blocking=True)


@contextmanager
def gradients_apart(model: nn.Module) -> Iterator[None]:
    """Let gradients of the block go elsewhere, and be forgotten."""
    gradients = [weight.grad for weight in model.parameters()]
    for weight in model.parameters():
        weight.grad = None
    try:
        yield
    finally:
        for weight, gradient in zip(model.parameters(), gradients, strict=True):
            weight.grad = gradient

"""The fused loss against fairseq's own criterion, on a stock transformer with more words than one chunk of it holds."""

import copy
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq.criterions import FairseqCriterion, build_criterion
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerModel
from programs.fairseq_config import configured
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from realformer_nmt.model.models.model import TranslationModel
from realformer_nmt.training.fused_loss import CACHE_CHUNK, SmoothedNLL

WORDS, PAD, EOS = 30_000, 1, 2
SIZE = "--encoder-layers 1 --decoder-layers 1 --encoder-embed-dim 8 --encoder-ffn-embed-dim 8 --dropout 0"
HEADS = "--encoder-attention-heads 2 --decoder-attention-heads 2 --share-all-embeddings"
LENGTHS = [7, 3, 1, 5]  # tokens of a sentence


@pytest.fixture(scope="module")
def task() -> SimpleNamespace:
    words = Dictionary()
    for number in range(WORDS - len(words)):
        words.add_symbol(str(number))
    return SimpleNamespace(source_dictionary=words, target_dictionary=words)


def transformer(task: SimpleNamespace, *flags: str) -> TransformerModel:
    torch.manual_seed(1)
    return TransformerModel.build_model(configured(*SIZE.split(), *flags).model, task)


@pytest.fixture(scope="module")
def model(task: SimpleNamespace) -> TransformerModel:
    return transformer(task, *HEADS.split())


@pytest.fixture(scope="module")
def sample() -> dict[str, Any]:
    """Four sentences, padded."""
    generator = torch.Generator().manual_seed(2)
    target = torch.randint(4, WORDS, (len(LENGTHS), max(LENGTHS)), generator=generator)
    for row, length in zip(target, LENGTHS, strict=True):
        row[length:] = PAD
    inputs = {"src_tokens": target.flip(1), "src_lengths": torch.tensor(LENGTHS)}
    previous = torch.nn.functional.pad(target[:, :-1], (1, 0), value=EOS)
    return {"net_input": inputs | {"prev_output_tokens": previous}, "target": target, "ntokens": sum(LENGTHS)}


def criterion(task: SimpleNamespace, name: str, *flags: str) -> FairseqCriterion:
    config = configured("--criterion", name, *flags).criterion
    return build_criterion(config, task)


def outcome(judge: FairseqCriterion, model: TransformerModel, sample: dict[str, Any], reduce: bool) -> Any:
    """Return what the criterion returns, and the gradients of all parameters."""
    model.zero_grad()
    loss, sample_size, log = judge(model, copy.deepcopy(sample), reduce=reduce)
    return loss.detach(), sample_size, log, gradients(model, loss)


def fp64_gradients(
    judge: FairseqCriterion, model: TransformerModel, sample: dict[str, Any], reduce: bool
) -> dict[str, Tensor]:
    """Return the gradients of fairseq's loss function; its criterion turns everything into fp32."""
    model.zero_grad()
    first = judge.ignore_prefix_size
    log_q = model(**sample["net_input"])[0].log_softmax(-1)[:, first:].reshape(-1, WORDS)
    target = sample["target"][:, first:].reshape(-1)
    loss, _ = label_smoothed_nll_loss(log_q, target, judge.eps, ignore_index=PAD, reduce=reduce)
    return gradients(model, loss)


def gradients(model: TransformerModel, loss: Tensor) -> dict[str, Tensor]:
    weights = torch.arange(1.0, loss.numel() + 1).view_as(loss)  # so that tokens count differently where not reduced
    (loss * weights).sum().backward()
    return {name: parameter.grad for name, parameter in model.named_parameters()}


def rounded_once(
    judge: FairseqCriterion, model: TransformerModel, sample: dict[str, Any], reduce: bool
) -> dict[str, Tensor]:
    """Return the gradients where the criterion alone works in fp32: a model's own rounding, which differs from
    processor to processor, would hide the criterion's. One that projects features itself needs the model in fp32."""
    if reduce and not judge.report_accuracy:
        return outcome(judge, model, sample, reduce)[3]
    wide = copy.deepcopy(model).double()
    wide.register_forward_hook(lambda _model, _inputs, output: (output[0].float(), *output[1:]))
    return outcome(judge, wide, sample, reduce)[3]


@pytest.mark.parametrize("reduce", [True, False])
@pytest.mark.parametrize(
    "flags",
    [
        "--label-smoothing 0.1 --report-accuracy",
        "--label-smoothing 0.0 --report-accuracy",
        "--label-smoothing 0.3 --sentence-avg",
        "--label-smoothing 0.1 --ignore-prefix-size 2 --report-accuracy",
    ],
)
def test_equals_fairseqs_criterion(
    task: SimpleNamespace, model: TransformerModel, sample: dict[str, Any], flags: str, reduce: bool
) -> None:
    assert WORDS * sum(LENGTHS) > CACHE_CHUNK  # else nothing would be cut into chunks
    stock = criterion(task, "label_smoothed_cross_entropy", *flags.split())
    fused = criterion(task, "label_smoothed_cross_entropy_fused", *flags.split())
    expected, actual = (outcome(judge, model, sample, reduce) for judge in (stock, fused))
    torch.testing.assert_close(actual[:3], expected[:3], rtol=1e-6, atol=0)

    wide = copy.deepcopy(model).double()
    fp64 = outcome(fused, wide, sample, reduce)[3]
    exact, stock_exact = (rounded_once(judge, model, sample, reduce) for judge in (fused, stock))
    for name, gradient in fp64_gradients(stock, wide, sample, reduce).items():
        if "k_proj.bias" in name:  # softmax does not see it: its gradient is rounding only
            continue
        scale = gradient.norm()
        assert (fp64[name] - gradient).norm() <= 1e-10 * scale, name
        # fairseq's own in fp32 are up to 1e-5 off: its smoothing terms sum to 1 only roughly
        error, their_error = ((each[name] - gradient).norm() for each in (exact, stock_exact))
        assert error <= their_error + 1e-6 * scale, name


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_sums_in_fp32(dtype: torch.dtype) -> None:
    """fairseq's loss, too, turns all logits into fp32 first; the gradient is rounded once, to the logits' type."""
    torch.manual_seed(3)
    logits = (5 * torch.randn(20, WORDS)).to(dtype).requires_grad_()
    stock_logits = logits.detach().clone().requires_grad_()
    target = torch.randint(0, WORDS, (20,))
    target[::6] = PAD
    loss, nll = (tokens.sum() for tokens in SmoothedNLL.apply(logits, target, 0.1, PAD))
    expected = label_smoothed_nll_loss(stock_logits.log_softmax(-1, dtype=torch.float32), target, 0.1, ignore_index=PAD)
    torch.testing.assert_close((loss, nll), expected, rtol=1e-6, atol=0)
    loss.backward()
    expected[0].backward()
    assert logits.grad.dtype == dtype
    torch.testing.assert_close(logits.grad, stock_logits.grad, rtol=torch.finfo(dtype).eps, atol=1e-7)


def test_keeps_no_array_of_tokens_by_vocabulary(
    task: SimpleNamespace, model: TransformerModel, sample: dict[str, Any]
) -> None:
    sizes: list[int] = []
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda saved: sizes.append(saved.numel()) or saved, lambda x: x)
    judge = criterion(
        task, "label_smoothed_cross_entropy_fused", "--label-smoothing", "0.1", "--ignore-prefix-size", "1"
    )
    with hooks:
        judge(model, sample)
    assert sizes.count(sample["target"].numel() * WORDS) == 0


class LivingArrays(TorchDispatchMode):
    """The most arrays of the size of `first`, itself included, that were alive together."""

    def __init__(self, first: Tensor) -> None:
        super().__init__()
        self.alive, self.most, self.size = weakref.WeakSet([first.untyped_storage()]), 1, first.nbytes

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = operation(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if isinstance(tensor, Tensor) and tensor.untyped_storage().nbytes() >= self.size:
                self.alive.add(tensor.untyped_storage())
        self.most = max(self.most, len(self.alive))
        return result


def test_makes_no_array_of_that_size_but_the_gradient() -> None:
    logits, target = torch.randn(40, WORDS), torch.randint(0, WORDS, (40,))
    fused_logits, stock_logits = (logits.clone().requires_grad_() for _ in range(2))
    with LivingArrays(fused_logits) as fused:
        SmoothedNLL.apply(fused_logits, target, 0.1, PAD)[0].sum().backward()
    with LivingArrays(stock_logits) as stock:
        label_smoothed_nll_loss(stock_logits.log_softmax(-1), target, 0.1, ignore_index=PAD)[0].backward()
    assert fused.most == 2
    assert stock.most > 2


def test_adaptive_softmax_is_refused(task: SimpleNamespace, sample: dict[str, Any]) -> None:
    model = transformer(task, "--adaptive-softmax-cutoff", "1000,5000")
    with pytest.raises(ValueError, match="no --adaptive-softmax-cutoff: take --criterion adaptive_loss"):
        criterion(task, "label_smoothed_cross_entropy_fused")(model, sample)


class Pointing(TransformerModel):
    """Model like a pointer-generator: its output is probabilities."""

    def get_normalized_probs(self, net_output: Any, log_probs: bool, *_: Any) -> Tensor:
        return net_output[0].clamp(min=1e-9).log() if log_probs else net_output[0]


def test_model_without_a_softmax_is_refused(
    task: SimpleNamespace, model: TransformerModel, sample: dict[str, Any]
) -> None:
    other = Pointing(model.cfg, model.encoder, model.decoder)
    with pytest.raises(ValueError, match=r"softmax of its output, which those of Pointing are not: take --criterion"):
        criterion(task, "label_smoothed_cross_entropy_fused")(other, sample)


def test_the_loss_can_be_set_to_zero_in_place(task: SimpleNamespace, sample: dict[str, Any]) -> None:
    """fairseq does so for a rank that has run out of batches; such a rank gives gradients of zero."""
    package_model = TranslationModel.build_model(configured("--arch", "post_ln_tiny").model, task)
    loss, _, _ = criterion(task, "label_smoothed_cross_entropy_fused")(package_model, sample)
    loss *= 0
    loss.backward()
    gradients = [parameter.grad for parameter in package_model.parameters() if parameter.grad is not None]
    assert gradients
    assert not any(gradient.any() for gradient in gradients)

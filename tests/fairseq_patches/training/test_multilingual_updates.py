"""Updates of fairseq's task multilingual_translation: their number, and their gradients on many ranks."""

from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.multiprocessing
from fairseq import models
from fairseq.optim import FairseqOptimizer
from fairseq.tasks.multilingual_translation import MultilingualTranslationTask
from programs.fairseq_config import configured
from tiny_models.tiny import SIZE, dictionary

from realformer_nmt.model.models.multilingual import MultilingualModel
from realformer_nmt.model.presets import FAMILIES


def of_two_pairs(family: str) -> MultilingualModel:
    task = SimpleNamespace(dicts=dict.fromkeys("ab", dictionary()), model_lang_pairs=["a-b", "b-a"])
    return MultilingualModel.build_model(Namespace(**SIZE, **FAMILIES[family]), task)


def test_branches_of_a_multilingual_model_grow() -> None:
    """After 499 updates those of layer 1 are open by 500 / 1000, of layer 2 by 500 / 2000."""
    model = of_two_pairs("pro_res")
    no_pairs = SimpleNamespace(model_lang_pairs=[])  # nothing is trained, only what comes before
    MultilingualTranslationTask.train_step(
        no_pairs, sample={}, model=model, criterion=None, optimizer=None, update_num=499
    )
    shares = {name: share.item() for name, share in model.named_buffers() if name.endswith("share")}
    assert {name.split(".")[1] for name in shares} == {"a-b", "b-a"}
    assert all(share == (0.5 if ".layers.0." in name else 0.25) for name, share in shares.items()), shares


def differentiate_on_one_rank(rank: int, folder: Path) -> None:
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder / 'store'}", rank=rank, world_size=2)
    settings = configured().distributed_training
    wrapped = models.DistributedFairseqModel(settings, of_two_pairs("post_ln"), None, torch.device("cpu"))
    weight = wrapped.models["a-b"].decoder.output_projection.weight
    weight.grad = torch.full_like(weight, 2 * rank + 1)  # 1 and 3; a process that is a fork cannot always differentiate
    FairseqOptimizer.all_reduce_grads(None, wrapped)  # as before each update
    torch.save(weight.grad, folder / f"rank{rank}.pt")


def test_every_rank_gets_the_mean_gradient_of_a_pairs_weights(tmp_path: Path) -> None:
    # forks, which import once
    torch.multiprocessing.start_processes(differentiate_on_one_rank, (tmp_path,), nprocs=2, start_method="fork")
    for rank in range(2):
        gradient = torch.load(tmp_path / f"rank{rank}.pt")
        torch.testing.assert_close(gradient, torch.full_like(gradient, (1 + 3) / 2))

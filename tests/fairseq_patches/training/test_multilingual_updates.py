"""The number of updates in fairseq's task multilingual_translation."""

from argparse import Namespace
from types import SimpleNamespace

from fairseq.tasks.multilingual_translation import MultilingualTranslationTask
from tiny_models.tiny import SIZE, dictionary

from realformer_nmt.model.models.multilingual import MultilingualModel
from realformer_nmt.model.presets import FAMILIES


def test_branches_of_a_multilingual_model_grow() -> None:
    """After 499 updates those of layer 1 are open by 500 / 1000, of layer 2 by 500 / 2000."""
    task = SimpleNamespace(dicts=dict.fromkeys("ab", dictionary()), model_lang_pairs=["a-b", "b-a"])
    model = MultilingualModel.build_model(Namespace(**SIZE, **FAMILIES["pro_res"]), task)
    no_pairs = SimpleNamespace(model_lang_pairs=[])  # nothing is trained, only what comes before
    MultilingualTranslationTask.train_step(
        no_pairs, sample={}, model=model, criterion=None, optimizer=None, update_num=499
    )
    shares = {name: share.item() for name, share in model.named_buffers() if name.endswith("share")}
    assert {name.split(".")[1] for name in shares} == {"a-b", "b-a"}
    assert all(share == (0.5 if ".layers.0." in name else 0.25) for name, share in shares.items()), shares

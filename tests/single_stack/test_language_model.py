"""Language models against fairseq's transformer_lm, with the same weights."""

from argparse import Namespace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq.criterions.cross_entropy import CrossEntropyCriterion
from fairseq.models import BaseFairseqModel
from fairseq.models.transformer_lm import TransformerLanguageModel, base_lm_architecture
from tiny_models.stock import judged, spread
from tiny_models.tiny import PAD, PREVIOUS, SIZE, dictionary, task

from realformer_nmt.common.errors import OptionError
from realformer_nmt.model.presets import FAMILIES
from realformer_nmt.single_stack.language_model import LanguageModel
from realformer_nmt.training.fused_loss import _projects_plainly

DECODER = {name: size for name, size in SIZE.items() if name.startswith("decoder_")}
WANTED = torch.cat([PREVIOUS[:, 1:], torch.full((3, 1), PAD)], 1)


def options(**settings: Any) -> Namespace:
    defaults: dict[str, Any] = {"dropout": 0.0, "tokens_per_sample": 12, "score_length": 12}
    return Namespace(**(DECODER | defaults | settings))


def stock(before: bool, **settings: Any) -> BaseFairseqModel:
    args = options(decoder_layers_to_keep=None, **settings)
    base_lm_architecture(args)
    args.decoder_normalize_before = before  # which the line above makes True
    return spread(TransformerLanguageModel.build_model(args, task()))


@pytest.mark.parametrize("shared", [False, True], ids=["own output", "tied output"])
@pytest.mark.parametrize(("family", "before"), [("post_ln", False), ("pre_ln", True)])
def test_logits_loss_and_gradients_are_stocks(family: str, before: bool, shared: bool) -> None:
    stock_model = stock(before, share_decoder_input_output_embed=shared)
    package_model = LanguageModel.build_model(
        options(**FAMILIES[family], share_decoder_input_output_embed=shared), task()
    )
    package_model.load_state_dict(stock_model.state_dict(), strict=True)
    stock_model.load_state_dict(package_model.state_dict(), strict=True)
    criterion = CrossEntropyCriterion(SimpleNamespace(target_dictionary=dictionary()), sentence_avg=False)
    sample = {
        "net_input": {"src_tokens": PREVIOUS, "src_lengths": PREVIOUS.ne(PAD).sum(1)},
        "target": WANTED,
        "ntokens": 8,
    }
    torch.testing.assert_close(
        judged(package_model, criterion, sample), judged(stock_model, criterion, sample), rtol=1e-4, atol=1e-4
    )
    logits, stock_logits = (model.eval()(PREVIOUS)[0][PREVIOUS.ne(PAD)] for model in (package_model, stock_model))
    torch.testing.assert_close(logits, stock_logits, rtol=0, atol=1e-5)
    features, _ = package_model(PREVIOUS, features_only=True)  # of which the fused loss makes logits in chunks
    assert _projects_plainly(package_model)
    assert torch.equal(package_model.decoder.output_projection(features), package_model(PREVIOUS)[0])


@pytest.mark.parametrize(("settings", "longest"), [({}, 12), ({"max_target_positions": 30}, 30)])
def test_it_is_as_long_as_a_sample_of_its_task(settings: dict[str, int], longest: int) -> None:
    model = LanguageModel.build_model(options(**FAMILIES["post_ln"], **settings), task())
    assert model.max_positions() == longest
    assert stock(False, **settings).max_positions() == longest


def test_another_dictionary_for_the_output_is_refused() -> None:
    with pytest.raises(OptionError, match="--output-dictionary-size 9 is not supported"):
        LanguageModel.build_model(options(**FAMILIES["post_ln"]), task(target=dictionary("abcde")))

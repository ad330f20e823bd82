"""Measurements of a model layer by layer: before training, as trained, and without each of its layers."""

import argparse

import torch
from fairseq.models import BaseFairseqModel

from realformer_nmt.analysis.analysis_record import DepthFigures, LayerFigures
from realformer_nmt.analysis.loaded_model import LoadedModel
from realformer_nmt.analysis.measures import gradients, layer_ablation, layer_similarity, stream, weight_perturbation
from realformer_nmt.analysis.text import Text, device_of, loss
from realformer_nmt.checkpoints.files.checkpoint_fields import Options
from realformer_nmt.checkpoints.inspection import Model, arch_of
from realformer_nmt.fairseq_patches.messages.quiet import quiet
from realformer_nmt.model.models.meta_model import any_skeleton

SEED = 1
SENTENCES = 128  # fewer than for attention, as each layer takes several passes
WITHOUT_DROPOUT = dict.fromkeys(("dropout", "attention_dropout", "activation_dropout"), 0.0)


def fresh(options: Options, text: Text, seed: int = SEED) -> BaseFairseqModel:
    """Build the model as it is before its first update, with ADMIN's profile of the first batch of the text."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        settings = argparse.Namespace(**{**options, **WITHOUT_DROPOUT, "checkpoint_activations": False})
        model = any_skeleton(arch_of(options), settings, *map(len, text.dictionaries))
        text.prepare(model)
    batch = next(text.batches())
    with torch.no_grad(), quiet():  # ADMIN prints its profile
        model.train()(**batch.inputs, features_only=True)
    return model.eval()


def measure(model: BaseFairseqModel, text: Text) -> LayerFigures:
    return LayerFigures(
        loss=loss(model, text),
        gradients=gradients.norms(model, text),
        stream=stream.measure(model, text),
        disturbance=weight_perturbation.measure(model, text),
        likeness=layer_similarity.measure(model, text),
    )


def study(subject: LoadedModel[Model], text: Text) -> DepthFigures:
    return DepthFigures(
        sentences=len(text.indices),
        start=measure(fresh(subject.options, text).to(device_of(subject.model)), text),
        checkpoint=measure(subject.model, text),
        left_out=layer_ablation.measure(subject.model, text),
    )

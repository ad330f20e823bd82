"""The folder that `realformer-nmt analyse` fills: the record and its figures."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from fairseq.models import BaseFairseqModel
from msgspec.structs import replace

from realformer_nmt.analysis import depth, loaded_model, sentence
from realformer_nmt.analysis.analyse import AnalyseRequest
from realformer_nmt.analysis.analysis_record import AnalysedModel, AnalysisRecord, DepthFigures, SentenceTokens
from realformer_nmt.analysis.figures import depth_figures, lines, matrices, violins
from realformer_nmt.analysis.figures.lines import Line
from realformer_nmt.analysis.hooks import CHAINS
from realformer_nmt.analysis.loaded_model import LoadedModel
from realformer_nmt.analysis.measures import heads
from realformer_nmt.analysis.measures.heads import UNIT, Chain, Heads
from realformer_nmt.analysis.sentence import Sentence
from realformer_nmt.analysis.text_readers import Reader, reader
from realformer_nmt.checkpoints import inspection, model_in_run
from realformer_nmt.common.files.atomic_files import completed
from realformer_nmt.common.stages.provenance import number_of_models
from realformer_nmt.common.stages.stage import Stage
from realformer_nmt.figures.drawing import Drawing
from realformer_nmt.model.part_names import FAMILY_OPTIONS

RECORD = "analysis.json"


class MeasuredModel(NamedTuple):
    """Figures of one model, and its sentence with its attention if --sentence is given."""

    record: AnalysedModel
    heads: Heads
    sentence: Sentence | None


def run(request: AnalyseRequest) -> int:
    paths = loaded_model.paths_by_name(request.models)
    data = request.data or model_in_run.trained_on(next(iter(paths.values())))
    readers = {name: reader(path) for name, path in paths.items()}
    stage = stage_of(request, paths, next(iter(readers.values())).files(data, request.subset))
    if stage.is_up_to_date(request.fresh):
        return 0
    origin = stage.new_origin()
    line = sentence.subwords(request.sentence, data) if request.sentence is not None else None
    measured = {name: measure(request, data, readers[name], name, line) for name in paths}
    by_name = {name: model.heads for name, model in measured.items()}
    depths = {name: model.record.depth for name, model in measured.items()}
    sentences = {name: model.sentence for name, model in measured.items() if model.sentence}
    files = write(drawings(by_name) | depth_figures.drawings(depths) | sentence_drawings(sentences), stage)
    models = [model.record for model in measured.values()]
    stage.write(AnalysisRecord(models=models, made_from=origin, outputs=stage.fingerprints(*files)))
    print(f"{request.folder / RECORD}: {len(measured)} models, {len(files)} figures")
    return 0


def measure(request: AnalyseRequest, data: Path, reader: Reader, name: str, line: str | None) -> MeasuredModel:
    """Measure a model on the text, without the sentences that are too long for it."""
    read = reader.read(data, request.subset, request.sentences)
    links = reader.links(request.alignment, read) if request.alignment else None
    model = loaded_model.load(name, reader.path, inspection.build_any)
    loaded_model.check_dictionaries(model, data, *read.dictionaries)
    model.model.to("cuda" if torch.cuda.is_available() and not request.cpu else "cpu")
    sentence = None if line is None else reader.sentence(model.model, read, line)
    text = read.within(model.model.max_positions())
    measured = heads.measure(model, text, links)
    layers = depth.study(model, text.sample(depth.SENTENCES))
    return MeasuredModel(analysed(model, len(text.indices), measured, layers, sentence), measured, sentence)


def analysed(
    model: LoadedModel[BaseFairseqModel],
    sentences: int,
    attention: Heads,
    layers: DepthFigures,
    sentence: Sentence | None,
) -> AnalysedModel:
    """Return the record of one model; choices that its checkpoint does not have stay unset."""
    record = AnalysedModel(
        name=model.name,
        checkpoint=str(model.path.resolve()),
        arch=inspection.arch_of(model.options),
        updates=model.updates,
        sentences=sentences,
        attention=attention.record(),
        depth=layers,
        sentence=SentenceTokens(source=sentence.source, target=sentence.target) if sentence else None,
    )
    choices = (*FAMILY_OPTIONS, *inspection.SIZES)
    return replace(record, **{name: model.options[name] for name in choices if name in model.options})


def stage_of(request: AnalyseRequest, paths: Mapping[str, Path], files: Mapping[str, Path]) -> Stage:
    inputs = {f"{name}.pt": path for name, path in paths.items()} | dict(files)
    inputs |= {"alignment": request.alignment} if request.alignment else {}
    settings = {"subset": request.subset, "sentences": request.sentences, "sentence": request.sentence}
    settings |= number_of_models(request.models) | ({"aligned": True} if request.alignment else {})
    return Stage("analyse", request.folder / RECORD, settings, inputs)


def drawings(models: Mapping[str, Heads]) -> dict[str, Drawing]:
    results = {}
    for chain in CHAINS:
        chains = {name: measured.chains[chain] for name, measured in models.items() if chain in measured.chains}
        if not chains:
            continue
        entropies = {name: chain.entropy for name, chain in chains.items()}
        results[f"entropy_{chain}"] = violins.draw(
            f"{chain} attention: entropy of each head, {UNIT}", violins.ENTROPY, entropies
        )
        divergences = {name: chain.divergence for name, chain in chains.items() if chain.divergence}
        if divergences:
            title = f"{chain} attention: divergence from the head above, {UNIT}"
            results[f"divergence_{chain}"] = violins.draw(title, violins.DIVERGENCE, divergences)
        results[f"looks_{chain}"] = lines.draw(f"{chain} attention: where it looks", looks(chains))
    return results


def looks(chains: Mapping[str, Chain]) -> dict[str, list[Line]]:
    """Return a panel per kind of position: the share of each layer's attention that goes there."""
    panels: dict[str, list[Line]] = {}
    for name, chain in chains.items():
        for kind, shares in chain.shares().items():
            panels.setdefault(f"at {kind}", []).append(Line(name, shares.mean(1).tolist()))
    return panels


def sentence_drawings(sentences: Mapping[str, Sentence]) -> dict[str, Drawing]:
    return {
        f"sentence_{chain}_{number}": matrices.heads(f"{name}: {chain} attention", attended)
        for number, (name, result) in enumerate(sentences.items(), 1)
        for chain, attended in result.chains.items()
    }


def write(drawings: Mapping[str, Drawing], stage: Stage) -> list[Path]:
    files: dict[Path, bytes] = {}
    for name, drawing in drawings.items():
        pictures = {"svg": drawing.file_svg().encode(), "png": drawing.png()}
        files |= {stage.record.with_name(f"{name}.{kind}"): content for kind, content in pictures.items()}
    with stage.claimed(*files):
        for file, content in files.items():
            with completed(file) as stream:
                stream.write(content)
    return list(files)

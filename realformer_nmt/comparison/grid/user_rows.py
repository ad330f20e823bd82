"""Rows of a --user-dir, and the trainings of a grid that name one: the others are what they are without it."""

from fairseq.registry import REGISTRIES

from realformer_nmt.checkpoints.files.allowed_components import PACKAGES, own_components
from realformer_nmt.comparison.grid.corpus import CorpusChoice
from realformer_nmt.corpora.subwords.subword_methods import METHODS
from realformer_nmt.model.presets import FAMILIES, FAMILIES_BY_IDEA
from realformer_nmt.protocols import fairseq_command
from realformer_nmt.protocols.train import TrainRequest
from realformer_nmt.tasks import SHIPPED, TASKS


def needs(train: TrainRequest, corpus: CorpusChoice) -> bool:
    """Tell whether a training names a row of a --user-dir."""
    prepared = fairseq_command.preparation(train)
    protocol = fairseq_command.load_protocol(train, prepared)
    subwords = corpus.prepare.subwords if corpus.prepare else prepared.subwords  # which is known before `prepare` runs
    names = [train.arch, protocol.task, subwords, *protocol.train.values(), *train.flags]
    return not names_of_users().isdisjoint(map(str, names))


def names_of_users() -> set[str]:
    """Return the names of families, tasks, losses, optimizers, schedules and subword methods that are the user's."""
    methods = {name for name, row in METHODS.items() if row.encoder.partition(".")[0] not in PACKAGES}
    shipped = {name for rows in FAMILIES_BY_IDEA.values() for name in rows}
    return (
        (FAMILIES.keys() - shipped)
        | (TASKS.keys() - SHIPPED)
        | methods.union(*(own_components(group) for group in ("task", *REGISTRIES)))
    )

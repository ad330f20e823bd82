"""Read what fairseq's commands print."""

import re
from collections import defaultdict
from typing import NamedTuple


def updates(log: str) -> list[int]:
    return [int(number) for number in re.findall(r"train_inner.*num_updates=(\d+)", log)]


def losses(log: str, field: str = "loss") -> list[float]:
    """The training loss at every log interval, in bits a token."""
    return [float(loss) for loss in re.findall(rf"train_inner.*[ ,]{field}=([\d.]+)", log)]


def validation(log: str, field: str = "loss") -> list[float]:
    return [float(loss) for loss in re.findall(rf"valid on '\w+' subset.*\| {field} ([\d.]+)", log)]


class Hypothesis(NamedTuple):
    score: float  # log probability to base 2, divided by the length
    text: str


class Translations(NamedTuple):
    """Output of fairseq-generate or fairseq-interactive, by number of the sentence."""

    hypotheses: dict[int, list[Hypothesis]]
    token_scores: dict[int, list[list[float]]]
    alignments: dict[int, list[str]]
    output: str

    @property
    def best(self) -> list[str]:
        """Best hypothesis of each sentence, in the order of the source."""
        return [self.hypotheses[number][0].text for number in sorted(self.hypotheses)]


def parse(output: str) -> Translations:
    hypotheses, scores, alignments = defaultdict(list), defaultdict(list), defaultdict(list)
    for kind, number, rest in re.findall(r"^([HPA])-(\d+)\t(.*)$", output, re.MULTILINE):
        if kind == "H":
            score, _, text = rest.partition("\t")
            hypotheses[int(number)].append(Hypothesis(float(score), text))
        elif kind == "P":
            scores[int(number)].append([float(score) for score in rest.split()])
        else:
            alignments[int(number)].append(rest)
    return Translations(dict(hypotheses), dict(scores), dict(alignments), output)

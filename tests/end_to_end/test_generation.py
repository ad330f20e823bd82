"""Output of fairseq-generate, fairseq-interactive and the hub interface for trained models."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fixture_types import Once
from programs.commands import fairseq as command
from programs.processes import run_all, said
from programs.reports import Translations, parse
from programs.runs import LANGUAGES, SENTENCES, UPDATES, Compose, Trained, at_update

from realformer_nmt.model.models.model import TranslationModel

COPIED = ("--gen-subset", "test1")  # its references are not what the models were trained for
SAMPLING = ("--beam", 1, "--sampling", "--sampling-topk", 5, "--temperature", 3)


@pytest.fixture(scope="module")
def realformer(trained: Callable[[str], Trained]) -> Path:
    """Its last state: what a mean of two looks at is less sharp."""
    return at_update(trained("realformer").folder / "checkpoints", UPDATES)


@pytest.fixture(scope="module")
def synthesizer(trained: Callable[[str], Trained]) -> Path:
    return trained("synthesizer_random_vanilla").average


@pytest.fixture(scope="module")
def translations(realformer: Path, synthesizer: Path, generate: Compose, once: Once) -> dict[str, Translations]:
    ensemble = f"{realformer}:{synthesizer}"
    jobs = {
        "beam": generate(realformer, "--nbest", 2, "--print-alignment", "hard"),
        "sampled": generate(realformer, *SAMPLING, "--seed", 7),
        "sampled_again": generate(realformer, *SAMPLING, "--seed", 7),
        "sampled_otherwise": generate(realformer, *SAMPLING, "--seed", 8),
        "prefixed": generate(realformer, *COPIED, "--prefix-size", 2),
        "ensemble": generate(ensemble),
        "realformer_scores": generate(realformer, *COPIED, "--score-reference"),
        "synthesizer_scores": generate(synthesizer, *COPIED, "--score-reference"),
        "ensemble_scores": generate(ensemble, *COPIED, "--score-reference"),
    }
    folder = once("generation", lambda folder: write(folder / "outputs.json", run_all(jobs, folder)))
    return {name: parse(output) for name, output in json.loads((folder / "outputs.json").read_text()).items()}


def write(file: Path, outputs: dict[str, str]) -> None:
    file.write_text(json.dumps(outputs))


def test_nbest_are_two_in_order_of_their_scores(translations: dict[str, Translations]) -> None:
    beam = translations["beam"]
    assert len(beam.hypotheses) == SENTENCES["test"]
    for number, (first, second) in beam.hypotheses.items():
        assert first.score >= second.score
        assert first.text != second.text
        for hypothesis, tokens in zip((first, second), beam.token_scores[number], strict=True):
            assert hypothesis.score == pytest.approx(np.mean(tokens), abs=1e-4)


def test_alignment_of_a_reversal_is_the_reversal(translations: dict[str, Translations], text: Path) -> None:
    links = correct = 0
    for number, source in enumerate((text / "test.src").read_text().split("\n")[:-1]):
        length = len(source.split())
        expected = {f"{length - 1 - position}-{position}" for position in range(length)}
        links += length
        correct += len(expected & set(translations["beam"].alignments[number][0].split()))
    assert correct > 0.95 * links


def test_samples_depend_on_the_seed_alone(translations: dict[str, Translations]) -> None:
    assert translations["sampled"].hypotheses == translations["sampled_again"].hypotheses
    assert translations["sampled"].best != translations["sampled_otherwise"].best
    assert translations["sampled"].best != translations["beam"].best


def test_prefix_of_the_reference_begins_the_hypothesis(translations: dict[str, Translations], text: Path) -> None:
    references = (text / "copied.tgt").read_text().splitlines()
    prefixes = [" ".join(reference.split()[:2]) for reference in references]
    assert [" ".join(best.split()[:2]) for best in translations["prefixed"].best] == prefixes
    assert [" ".join(best.split()[:2]) for best in translations["beam"].best] != prefixes


def test_ensemble_of_two_families_has_the_mean_of_their_probabilities(translations: dict[str, Translations]) -> None:
    def probabilities(name: str, number: int) -> np.ndarray:
        return 2 ** np.array(translations[f"{name}_scores"].token_scores[number][0])

    for number in range(SENTENCES["test"]):
        mean = (probabilities("realformer", number) + probabilities("synthesizer", number)) / 2
        assert probabilities("ensemble", number) == pytest.approx(mean, rel=1e-3)  # printed with four digits
    assert len(translations["ensemble"].best) == SENTENCES["test"]


def test_interactive_says_what_generate_says(
    translations: dict[str, Translations], realformer: Path, reversals: Path, user_dir: Path, text: Path, tmp_path: Path
) -> None:
    options = ("--user-dir", user_dir, *LANGUAGES, "--path", realformer, "--beam", 5, "--buffer-size", 16, "--cpu")
    source = (text / "test.src").read_text()
    spoken = parse(said(command("interactive", reversals, *options), tmp_path, source))
    assert spoken.best == translations["beam"].best
    scores = [spoken.hypotheses[number][0].score for number in range(SENTENCES["test"])]
    expected = [translations["beam"].hypotheses[number][0].score for number in range(SENTENCES["test"])]
    assert scores == pytest.approx(expected, abs=1e-5)


def test_hub_interface_translates_as_generate_does(
    translations: dict[str, Translations], realformer: Path, reversals: Path, user_dir: Path, text: Path
) -> None:
    hub = TranslationModel.from_pretrained(
        str(realformer.parent), realformer.name, str(reversals), user_dir=str(user_dir), cpu=True
    )
    sources = (text / "test.src").read_text().splitlines()
    assert hub.translate(sources, beam=5) == translations["beam"].best

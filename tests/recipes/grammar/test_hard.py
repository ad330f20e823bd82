"""`corpus.py --hard`: as right as the corpus without it, longer, with more words, and not the same sentences."""

import re
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest
from corpus import pairs, write_corpus
from grammar.chance import Chance
from grammar.composer import Composer
from grammar.lexicon import extended, grammar
from grammar.sentences import reason, sentence, tidy
from test_grammar import ARTICLES

HARD = "hard"
VOWELS = re.compile(r"\b[Aa] [aeio]|\b[Aa]n [^aeioAEIO]")


@pytest.fixture(scope="module")
def corpus() -> list[tuple[str, str]]:
    return pairs(4000, 3, HARD)


def test_sentences_are_longer_and_of_more_words(corpus: list[tuple[str, str]]) -> None:
    easy = pairs(4000, 3)
    for side in (0, 1):
        lengths = [mean(len(pair[side].split()) for pair in sample) for sample in (easy, corpus)]
        assert lengths[1] > 1.4 * lengths[0]
    types = [len({word for _, german in sample for word in german.split()}) for sample in (easy, corpus)]
    assert types[1] > 1.8 * types[0]
    commas = [sum(german.count(",") for _, german in sample) for sample in (easy, corpus)]
    assert commas[1] > 3 * commas[0]  # every subordinate clause has one


def test_nothing_is_taken_from_the_easy_grammar() -> None:
    easy, hard = grammar(), grammar(HARD)
    for kind, nouns in easy.nouns.items():
        assert list(hard.nouns[kind][: len(nouns)]) == list(nouns)
        assert len(hard.nouns[kind]) > len(nouns)
    assert extended({"a": [1], "b": {"c": 1}}, {"a": [2], "b": {"d": 2}, "e": 3}) == {
        **{"a": [1, 2], "b": {"c": 1, "d": 2}, "e": 3}
    }


def test_each_word_means_one_thing() -> None:
    """The same English has the same German in any list, inflected alike."""
    hard = grammar(HARD)
    nouns = [(noun.english, (noun.german, noun.gender)) for group in hard.nouns.values() for noun in group]
    adjectives = [(word.english[0], word.german) for group in hard.adjectives.values() for word in group]
    verbs = [(word.english, (word.particle, word.infinitive)) for group in hard.verbs.values() for word in group]
    firsts = [tuple(line.split()) for line in hard.table.compounds["first"]]
    for words in (nouns, adjectives, verbs, firsts):
        meanings: dict = {}
        for english, german in words:
            assert meanings.setdefault(english, german) == german, english
    assert all(base != past for (base, past), _ in verbs if base != "cost")  # "they put" would be two sentences


def test_no_english_sentence_has_two_translations() -> None:
    composer, translations = Composer(Chance(5), HARD), {}
    for _ in range(8000):
        english, german = sentence(composer)
        assert translations.setdefault(english, german) == german


def test_articles_fit_their_nouns(corpus: list[tuple[str, str]]) -> None:
    fits = set()
    for nouns in grammar(HARD).nouns.values():
        for word in nouns:
            for case, row in ARTICLES.items():
                fits.add((row[("der", "die", "das")[word.gender]], word.decline(case, False)))
                fits.add((row["plural"], word.decline(case, True)))
    forms, counts = {form for _, form in fits}, Counter()
    for _, german in corpus:
        for article, form in re.findall(
            r"(?<!, )\b([Dd](?:er|ie|as|en|em)) (?:[a-zäöüß]+en? )?([A-ZÄÖÜ][a-zäöüß]+)", german
        ):
            if form in forms:
                assert (article.lower(), form) in fits, german
                counts[form] += 1
    assert len(counts) > 150


def test_a_stands_before_consonants_and_an_before_vowels(corpus: list[tuple[str, str]]) -> None:
    assert [english for english, _ in corpus if VOWELS.search(english)] == []


def test_a_reason_has_two_clauses_that_end_with_their_verbs() -> None:
    composer = Composer(Chance(1), HARD)
    finite = {form for row in grammar().table.finite.values() for form in row.split()}
    for word in grammar(HARD).verbs["words"]:
        forms = (grammar().finite(word.infinitive, person, word.present) for person in ("ich", "wir", "er"))
        finite |= {word.particle + form for form in forms}
    for english, german in (map(tidy, reason(composer)) for _ in range(200)):
        that, because = german.removesuffix(".").split(", dass ")[1].rsplit(", ", 1)
        assert english.count(" that ") == 1
        assert because.split()[0] in ("weil", "obwohl")
        assert {that.split()[-1], because.split()[-1]} <= finite


def test_the_file_written(tmp_path: Path) -> None:
    for name, more in (("easy", ()), ("hard", ("hard",))):
        write_corpus(tmp_path / name, {"train": 300, "valid": 20, "test": 20}, 1, *more)
    texts = [(tmp_path / name / "train.de").read_text() for name in ("easy", "hard")]
    assert len(texts[1]) > 1.4 * len(texts[0])

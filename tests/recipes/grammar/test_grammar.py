"""The synthetic corpus: sentences written by hand from the rules, agreement looked up again, splits, the same bytes."""

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from corpus import pairs, write_corpus
from grammar.chance import Chance
from grammar.clauses import Clause
from grammar.composer import Composer
from grammar.lexicon import Adjective, Noun, Verb, grammar, plural, third
from grammar.phrases import NounPhrase, PersonName, Prepositional, Pronoun, Relative
from grammar.sentences import sentence, tidy
from programs.program import REPOSITORY

SCRIPT = REPOSITORY / "recipes" / "quickstart" / "corpus.py"
# Duden's table: definite article by case and the noun's gender or plural
ARTICLES = {
    "nominative": {"der": "der", "die": "die", "das": "das", "plural": "die"},
    "accusative": {"der": "den", "die": "die", "das": "das", "plural": "die"},
    "dative": {"der": "dem", "die": "der", "das": "dem", "plural": "den"},
}


def noun(english: str) -> Noun:
    return next(noun for nouns in grammar().nouns.values() for noun in nouns if noun.english[0] == english)


def adjective(english: str) -> Adjective:
    return next(word for words in grammar().adjectives.values() for word in words if word.english[0] == english)


def verb(english: str) -> Verb:
    return next(verb for verbs in grammar().verbs.values() for verb in verbs if verb.english[0] == english)


MAN, BOY, CHILD, TABLE, DOOR = (
    NounPhrase(noun("man"), "the"),
    NounPhrase(noun("boy"), "the"),
    NounPhrase(noun("child"), "the"),
    NounPhrase(noun("table"), "a", adjective=adjective("old")),
    NounPhrase(noun("door"), "my"),
)
BUYS = Clause(MAN, verb("buy"), what=TABLE, time=("today", "heute"))
OPENS = Clause(BOY, verb("open"), what=DOOR, time=("today", "heute"))
GIVES = Clause(MAN, verb("give"), whom=BOY, what=NounPhrase(noun("book"), "the"))
SLEEPS = Clause(CHILD, verb("sleep"), place=Prepositional("in", "in", "dative", NounPhrase(noun("garden"), "the")))


@pytest.mark.parametrize(
    ("clause", "english", "second", "last"),
    [
        (
            *(BUYS, "the man buys an old table today"),
            *("der Mann kauft heute einen alten Tisch", "der Mann heute einen alten Tisch kauft"),
        ),
        (
            *(replace(BUYS, tense="past"), "the man bought an old table today"),
            *("der Mann hat heute einen alten Tisch gekauft", "der Mann heute einen alten Tisch gekauft hat"),
        ),
        (
            *(OPENS, "the boy opens my door today"),
            *("der Junge macht heute meine Tür auf", "der Junge heute meine Tür aufmacht"),
        ),
        (
            *(replace(OPENS, tense="past", negated=True), "the boy did not open my door today"),
            "der Junge hat meine Tür heute nicht aufgemacht",
            "der Junge meine Tür heute nicht aufgemacht hat",
        ),
        (
            *(replace(OPENS, tense="can", negated=True, subject=Pronoun("I")), "I cannot open my door today"),
            *("ich kann meine Tür heute nicht aufmachen", "ich meine Tür heute nicht aufmachen kann"),
        ),
        (
            *(GIVES, "the man gives the boy the book"),
            *("der Mann gibt dem Jungen das Buch", "der Mann dem Jungen das Buch gibt"),
        ),
        (
            *(replace(GIVES, what=Pronoun("it_neuter"), to=True), "the man gives it to the boy"),
            *("der Mann gibt es dem Jungen", "der Mann es dem Jungen gibt"),
        ),
        (
            *(replace(SLEEPS, negated=True), "the child does not sleep in the garden"),
            *("das Kind schläft nicht im Garten", "das Kind nicht im Garten schläft"),
        ),
        (
            *(Clause(MAN, verb("go"), "past", place=Prepositional("into", "in", "accusative", SLEEPS.place.phrase)),),
            *(
                "the man went into the garden",
                "der Mann ist in den Garten gegangen",
                "der Mann in den Garten gegangen ist",
            ),
        ),
        (
            *(Clause(MAN, verb("call|up"), what=Pronoun("she")), "the man calls her up"),
            *("der Mann ruft sie an", "der Mann sie anruft"),
        ),
        (
            *(Clause(Pronoun("we"), verb("wait_for".replace("_", " ")), bound=BOY), "we wait for the boy"),
            *("wir warten auf den Jungen", "wir auf den Jungen warten"),
        ),
        (
            *(Clause(MAN, verb("help"), whom=PersonName("Kamon", ("Mr.", "Herr"))), "the man helps Mr. Kamon"),
            *("der Mann hilft Herrn Kamon", "der Mann Herrn Kamon hilft"),
        ),
    ],
)
def test_a_clause(clause: Clause, english: str, second: str, last: str) -> None:
    assert (clause.english(), clause.german(), clause.german_last()) == (english, second, last)


def test_the_verb_stays_second_behind_the_time_and_comes_first_in_questions() -> None:
    assert OPENS.english(front=True) == "today the boy opens my door"
    assert OPENS.german(front=True) == "heute macht der Junge meine Tür auf"
    assert OPENS.english_question() == "does the boy open my door today"
    assert OPENS.german_first() == "macht der Junge heute meine Tür auf"
    assert replace(OPENS, tense="past").english_question() == "did the boy open my door today"


def test_zu_stands_inside_a_separable_verb() -> None:
    assert replace(OPENS, time=None).german_infinitive() == "meine Tür aufzumachen"
    assert replace(BUYS, time=None).german_infinitive() == "einen alten Tisch zu kaufen"


def test_a_relative_pronoun_agrees_with_its_noun_and_its_own_case() -> None:
    clause = Clause(MAN, verb("buy"), what=Relative(NounPhrase(noun("table"), "the")))
    assert (clause.english(), clause.german_last()) == ("that the man buys", "den der Mann kauft")
    clause = Clause(Relative(BOY), verb("see"), what=DOOR)
    assert (clause.english(), clause.german_last()) == ("who sees my door", "der meine Tür sieht")


def test_it_has_the_gender_of_the_german_noun() -> None:
    for name, german in (("lamp", "sie"), ("table", "er"), ("book", "es")):
        pronoun = NounPhrase(noun(name), "the").pronoun()
        assert pronoun is not None
        assert (pronoun.english("subject"), pronoun.german("nominative")) == ("it", german)
    assert CHILD.pronoun() is None  # es in German; in English a matter of opinion


@pytest.mark.parametrize(
    ("determiner", "many", "case", "german"),
    [
        ("the", False, "dative", "dem alten Tisch"),
        ("a", False, "nominative", "ein alter Tisch"),
        ("a", False, "accusative", "einen alten Tisch"),
        ("none", True, "nominative", "alte Tische"),
        ("none", True, "dative", "alten Tischen"),
        ("no", True, "accusative", "keine alten Tische"),
        ("this", False, "accusative", "diesen alten Tisch"),
        ("our", True, "dative", "unseren alten Tischen"),
    ],
)
def test_endings_of_adjectives(determiner: str, many: bool, case: str, german: str) -> None:
    assert replace(TABLE, determiner=determiner, plural=many).german(case) == german


def test_a_compound_has_the_gender_and_forms_of_its_last_part() -> None:
    phrase = NounPhrase(noun("table").compound("kitchen", "Küchen"), "the")
    assert (phrase.english("subject"), phrase.german("accusative")) == ("the kitchen table", "den Küchentisch")
    assert replace(phrase, plural=True).german("dative") == "den Küchentischen"


@pytest.mark.parametrize("case", ARTICLES)
def test_articles_follow_gender_and_case(case: str) -> None:
    genders = ("der", "die", "das")
    for nouns in grammar().nouns.values():
        for word in nouns:
            gender = genders[word.gender]
            assert NounPhrase(word, "the").german(case).split()[0] == ARTICLES[case][gender]
            several = NounPhrase(word, "the", plural=True).german(case).split()
            assert several[0] == ARTICLES[case]["plural"]
            assert case != "dative" or several[1][-1] in "ns"


def test_english_forms() -> None:
    assert [plural(word) for word in ("key", "city", "witness", "box", "torch")] == [
        *("keys", "cities", "witnesses", "boxes", "torches")
    ]
    assert [third(word) for word in ("go", "try", "turn|on", "look for")] == ["goes", "tries", "turns|on", "looks for"]


def test_commas() -> None:
    assert tidy("der Mann , der schläft , .") == "Der Mann, der schläft."
    assert tidy("der Mann , der schläft , , weil er") == "Der Mann, der schläft, weil er"


@pytest.fixture(scope="module")
def corpus() -> list[tuple[str, str]]:
    return pairs(5000, 3)


def test_in_every_definite_noun_phrase_the_article_fits_the_noun(corpus: list[tuple[str, str]]) -> None:
    """Some case has this article and this form of the noun, looked up from the sentence back to the lexicon."""
    fits = set()
    for nouns in grammar().nouns.values():
        for word in nouns:
            for case, row in ARTICLES.items():
                fits.add((row[("der", "die", "das")[word.gender]], word.decline(case, False)))
                fits.add((row["plural"], word.decline(case, True)))
    forms = {form for _, form in fits}
    articles = Counter()
    for _, german in corpus:
        for article, form in re.findall(
            r"(?<!, )\b([Dd](?:er|ie|as|en|em)) (?:[a-zäöüß]+en? )?([A-ZÄÖÜ][a-zäöüß]+)", german
        ):
            if form in forms:
                assert (article.lower(), form) in fits, german
                articles[article.lower()] += 1
    assert set(articles) == {"der", "die", "das", "den", "dem"}
    assert articles.total() > 1000


def test_a_subordinate_clause_ends_with_its_finite_verb(corpus: list[tuple[str, str]]) -> None:
    finite = {form for row in grammar().table.finite.values() for form in row.split()}
    for verbs in grammar().verbs.values():
        for word in verbs:
            forms = (grammar().finite(word.infinitive, person, word.present) for person in ("ich", "wir", "er", "sie"))
            finite |= {word.particle + form for form in forms}
    last = [re.search(r", (?:dass|weil|obwohl) [^,]* (\S+)\.$", german) for _, german in corpus]
    ends = [match.group(1) for match in last if match]
    assert len(ends) > 100
    assert set(ends) <= finite


def test_no_english_sentence_has_two_translations() -> None:
    """The pair is a function of the English: what setdefault drops in pairs() is a repetition, not a second answer."""
    composer, translations = Composer(Chance(5)), {}
    repeated = 0
    for _ in range(20_000):
        english, german = sentence(composer)
        repeated += english in translations
        assert translations.setdefault(english, german) == german
    assert repeated > 50


def test_there_is_variety(corpus: list[tuple[str, str]]) -> None:
    words = Counter(word for _, german in corpus for word in german.split())
    once = sum(count == 1 for count in words.values())
    assert once > len(words) / 4  # a long tail
    for english, german in (("nicht", r"\bnicht\b"), ("kein", r"\bkein"), ("zu", r"\bzu \w+en\b|\w+zu\w+en\b")):
        assert sum(bool(re.search(german, line)) for _, line in corpus) > 50, english


def test_the_splits_share_no_sentence_and_the_test_set_does_not_depend_on_the_training_set(tmp_path: Path) -> None:
    for name, number in (("small", 300), ("large", 600)):
        write_corpus(tmp_path / name, {"train": number, "valid": 50, "test": 60}, seed=2)
    lines = {
        split: [
            (tmp_path / "large" / f"{split}.{language}").read_text(encoding="utf-8").splitlines()
            for language in ("en", "de")
        ]
        for split in ("train", "valid", "test")
    }
    assert {split: [len(side) for side in sides] for split, sides in lines.items()} == {
        **{"train": [600, 600], "valid": [50, 50], "test": [60, 60]},
    }
    for side in (0, 1):
        everything = [line for sides in lines.values() for line in set(sides[side])]
        assert side or len(everything) == len(set(everything)) == 710
        assert not set(lines["train"][side]) & set(lines["test"][side]) or side
    for file in ("valid.en", "valid.de", "test.en", "test.de"):
        assert (tmp_path / "small" / file).read_bytes() == (tmp_path / "large" / file).read_bytes()


def test_the_same_seed_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    digests = []
    for number, hashing in enumerate(("0", "4711")):
        folder = tmp_path / str(number)
        words = [sys.executable, str(SCRIPT), "--folder", str(folder), "--train", "2000"]
        subprocess.run(words, check=True, env={**os.environ, "PYTHONHASHSEED": hashing, "LC_ALL": "C"})
        files = sorted(folder.iterdir())
        assert len(files) == 6
        digests.append([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])
    assert digests[0] == digests[1]
    assert pairs(10, 1) != pairs(10, 2)


def test_a_text_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    """The same text is written again, as after a kill."""
    sizes = {"train": 3, "valid": 2, "test": 2}
    write_corpus(tmp_path, sizes, 1)
    (tmp_path / "train.de").unlink()
    write_corpus(tmp_path, sizes, 1)
    (tmp_path / "train.en").write_text("my own text\n")
    with pytest.raises(SystemExit, match=r"train\.en holds another text: name another --folder"):
        write_corpus(tmp_path, sizes, 1)
    assert (tmp_path / "train.en").read_text() == "my own text\n"

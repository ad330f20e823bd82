"""The lexicon and grammar tables of grammar.toml."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct, convert

from realformer_nmt.common.requests.toml_tables import Table, read_toml

CASES = ("nominative", "accusative", "dative")
GENDERS = ("der", "die", "das")
PLURAL = 3  # column of the plural, after the genders
PERSONS = ("ich", "wir", "er", "sie")
VOWELS = tuple("aeiouäöü")
Row = dict[str, str]


@dataclass(frozen=True)
class Noun:
    english: tuple[str, str]
    german: tuple[str, str]
    gender: int
    kind: str
    weak: bool = False

    def decline(self, case: str, plural: bool) -> str:
        singular, many = self.german
        if plural:
            return f"{many}n" if case == "dative" and not many.endswith(("n", "s")) else many
        return many if self.weak and case != "nominative" else singular

    def compound(self, english: str, german: str) -> "Noun":
        english_one, english_many = (f"{english} {word}" for word in self.english)
        german_one, german_many = (german + word.lower() for word in self.german)
        return Noun((english_one, english_many), (german_one, german_many), self.gender, self.kind, self.weak)


@dataclass(frozen=True)
class Adjective:
    english: tuple[str, str]  # positive and comparative
    german: tuple[str, str]

    def inflect(self, ending: str) -> str:
        return self.german[0].removesuffix("e") + ending


@dataclass(frozen=True)
class Verb:
    english: tuple[str, str]  # base and past; a movable particle follows "|"
    infinitive: str
    present: str  # the er-form
    participle: str
    particle: str
    auxiliary: str
    who: tuple[str, ...]
    whom: tuple[str, ...]
    what: tuple[str, ...]
    bound: tuple[str, ...]  # preposition, case and kind
    where: str


@dataclass(frozen=True)
class Determiner:
    english: tuple[str, ...]
    stem: str
    endings: str
    adjectives: str


class Tables(Struct, frozen=True):
    """The tables of grammar.toml, whose rows are read where they are used."""

    chances: dict[str, float]
    sentences: dict[str, int]
    syllables: Row
    endings: dict[str, Row]
    determiners: dict[str, Row]
    pronouns: dict[str, Row]
    finite: Row
    modals: Row
    nouns: dict[str, list[str]]
    compounds: dict[str, list[str]]
    adjectives: dict[str, list[str]]
    verbs: dict[str, list[Row]]
    prepositions: Row
    adjuncts: dict[str, list[str]]
    times: dict[str, list[str]]
    coordinators: dict[str, list[str]]
    conjunctions: dict[str, list[str]]
    numerals: dict[str, Row]


@dataclass(frozen=True)
class Grammar:
    table: Tables
    nouns: Mapping[str, Sequence[Noun]]
    adjectives: Mapping[str, Sequence[Adjective]]
    verbs: Mapping[str, Sequence[Verb]]
    determiners: Mapping[str, Determiner]

    def ending(self, endings: str, case: str, column: int) -> str:
        return words(self.table.endings[endings][case])[column]

    def finite(self, infinitive: str, person: str, present: str = "") -> str:
        """Return a finite form of a verb; `present` is its er-form, unless a table has all of its forms."""
        if infinitive in self.table.finite:
            return words(self.table.finite[infinitive])[PERSONS.index(person)]
        return {"er": present, "ich": infinitive.removesuffix("n")}.get(person, infinitive)


@functools.cache
def grammar(*more: str) -> Grammar:
    """Load grammar.toml, extended by the files named `more` beside it."""
    content: Table = {}
    for name in ("grammar", *more):
        content = extended(content, read_toml(Path(__file__).with_name(f"{name}.toml"), "it is a part of this package"))
    table = convert(content, Tables)
    return Grammar(
        table=table,
        nouns={kind: [noun(line, kind) for line in lines] for kind, lines in table.nouns.items()},
        adjectives={kind: [adjective(line) for line in lines] for kind, lines in table.adjectives.items()},
        verbs={kind: [verb(row) for row in rows] for kind, rows in table.verbs.items()},
        determiners={name: determiner(row) for name, row in table.determiners.items()},
    )


def extended(table: Table, more: Table) -> Table:
    """Return the table extended by another: lists are concatenated, tables merged, other values replaced."""
    result = dict(table)
    for name, value in more.items():
        before = table.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            value = extended(before, value)
        elif isinstance(value, list) and isinstance(before, list):
            value = [*before, *value]
        result[name] = value
    return result


def determiner(row: Row) -> Determiner:
    return Determiner(words(row["english"]), row["stem"], row["endings"], row["adjectives"])


def words(text: str) -> tuple[str, ...]:
    """Split a row of words: a dot is an empty word, _ a space within a word."""
    return tuple("" if word == "." else word.replace("_", " ") for word in text.split())


def noun(line: str, kind: str) -> Noun:
    english, article, one, many, *weak = line.split()
    single, _, several = english.partition("/")
    return Noun((single, several or plural(single)), (one, many), GENDERS.index(article), kind, bool(weak))


def plural(english: str) -> str:
    if english.endswith("y") and english[-2] not in VOWELS:
        return f"{english[:-1]}ies"
    return english + ("es" if english.endswith(("s", "x", "ch", "sh")) else "s")


def third(english: str) -> str:
    """Return the third person: buy -> buys, go -> goes, turn|on -> turns|on, wait for -> waits for."""
    head = english.replace("|", " ").split()[0]
    return ("goes" if head == "go" else plural(head)) + english[len(head) :]


def adjective(line: str) -> Adjective:
    english, german = words(line)
    base, _, more = english.partition("/")
    stem, _, comparative = german.partition("/")
    return Adjective((base, more), (stem, comparative or f"{stem}er"))


def verb(row: Row) -> Verb:
    base, past = words(row["english"])
    infinitive, present, participle = words(row["german"])
    particle, _, infinitive = infinitive.rpartition("|")
    return Verb(
        english=(base, past),
        infinitive=infinitive,
        present=present,
        participle=participle,
        particle=particle,
        auxiliary=row.get("auxiliary", "haben"),
        who=words(row.get("who", "")),
        whom=words(row.get("whom", "")),
        what=words(row.get("what", "")),
        bound=words(row.get("with", "")),
        where=row.get("where", ""),
    )

"""Noun phrases, names and pronouns in both languages: English forms by role, German forms by case."""

from dataclasses import dataclass
from typing import Protocol

from grammar.lexicon import CASES, PLURAL, Adjective, Noun, grammar, words

ROLES = ("subject", "object")
CONTRACTIONS = {
    "in dem": "im",
    "in das": "ins",
    "von dem": "vom",
    "an dem": "am",
    "an das": "ans",
    "zu dem": "zum",
    "zu der": "zur",
}


class Phrase(Protocol):
    @property
    def person(self) -> str: ...
    @property
    def kind(self) -> str: ...
    def english(self, role: str, /) -> str: ...
    def german(self, case: str, /) -> str: ...
    def pronoun(self) -> "Pronoun | None":
        """Return the pronoun for this phrase, or None if more than one would be right."""


@dataclass(frozen=True)
class Pronoun:
    name: str  # a row of grammar.toml
    kind: str = "person"

    @property
    def person(self) -> str:
        return str(grammar().table.pronouns[self.name]["person"])

    def english(self, role: str) -> str:
        return words(grammar().table.pronouns[self.name]["english"])[ROLES.index(role)]

    def german(self, case: str) -> str:
        return words(grammar().table.pronouns[self.name]["german"])[CASES.index(case)]

    def pronoun(self) -> "Pronoun":
        return self


@dataclass(frozen=True)
class PersonName:
    name: str
    title: tuple[str, str] | None = None  # Mr. and Herr, Mrs. and Frau
    kind: str = "person"
    person: str = "er"

    def english(self, _: str) -> str:
        return f"{self.title[0]} {self.name}" if self.title else self.name

    def german(self, case: str) -> str:
        if self.title is None:
            return self.name
        herrn = self.title[1] == "Herr" and case != "nominative"
        return f"{'Herrn' if herrn else self.title[1]} {self.name}"

    def pronoun(self) -> Pronoun | None:
        return Pronoun("he" if self.title[1] == "Herr" else "she") if self.title else None


@dataclass(frozen=True)
class Fixed:
    """A phrase with one form per language: Boralia, Boralien; 21 euros, 21 Euro."""

    names: tuple[str, str]
    kind: str
    person: str

    def english(self, _: str) -> str:
        return self.names[0]

    def german(self, _: str) -> str:
        return self.names[1]

    def pronoun(self) -> None:
        return None


@dataclass(frozen=True)
class NounPhrase:
    noun: Noun
    determiner: str  # a row of grammar.toml
    plural: bool = False
    number: tuple[str, str] | None = None
    adjective: Adjective | None = None
    relative: tuple[str, str] | None = None

    @property
    def person(self) -> str:
        return "sie" if self.plural else "er"

    @property
    def kind(self) -> str:
        return self.noun.kind

    @property
    def column(self) -> int:
        return PLURAL if self.plural else self.noun.gender

    def english(self, _: str) -> str:
        parts = [
            self.number and self.number[0],
            self.adjective and self.adjective.english[0],
            self.noun.english[self.plural],
            self.relative and self.relative[0],
        ]
        rest = " ".join(part for part in parts if part)
        article = grammar().determiners[self.determiner].english[self.plural]
        if article == "a" and rest[0].lower() in "aeio":  # no word here begins with a silent h or a sounded u
            article = "an"
        return f"{article} {rest}" if article else rest

    def german(self, case: str) -> str:
        row = grammar().determiners[self.determiner]
        ending = grammar().ending(row.adjectives, case, self.column)
        parts = [
            row.stem and row.stem + grammar().ending(row.endings, case, self.column),
            self.number and self.number[1],
            self.adjective and self.adjective.inflect(ending),
            self.noun.decline(case, self.plural),
            self.relative and self.relative[1],
        ]
        return " ".join(part for part in parts if part)

    def pronoun(self) -> Pronoun | None:
        if self.plural:
            return Pronoun("they", self.kind)
        if self.kind != "person":
            return Pronoun(("it_masculine", "it_feminine", "it_neuter")[self.noun.gender], self.kind)
        return Pronoun(("he", "she")[self.noun.gender], self.kind) if self.noun.gender < 2 else None


@dataclass(frozen=True)
class Relative:
    """A relative pronoun, in the nominative or accusative: who, that; der, die, das."""

    phrase: NounPhrase

    @property
    def person(self) -> str:
        return self.phrase.person

    @property
    def kind(self) -> str:
        return self.phrase.kind

    def english(self, role: str) -> str:
        return "who" if self.kind == "person" and role == "subject" else "that"

    def german(self, case: str) -> str:
        return "d" + grammar().ending("definite", case, self.phrase.column)

    def pronoun(self) -> Pronoun | None:
        return self.phrase.pronoun()


@dataclass(frozen=True)
class Prepositional:
    english_preposition: str
    german_preposition: str
    case: str
    phrase: Phrase

    def english(self) -> str:
        return f"{self.english_preposition} {self.phrase.english('object')}"

    def german(self) -> str:
        text = f"{self.german_preposition} {self.phrase.german(self.case)}"
        first = " ".join(text.split(" ", 2)[:2])
        return CONTRACTIONS.get(first, first) + text[len(first) :]

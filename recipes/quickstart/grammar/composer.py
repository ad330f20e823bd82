"""Random words, phrases and clauses, drawn from the grammar by a Chance."""

from collections.abc import Sequence
from dataclasses import replace

from grammar.chance import Chance
from grammar.clauses import Clause
from grammar.lexicon import Adjective, Noun, Verb, grammar, words
from grammar.numerals import digits, spelt
from grammar.phrases import (
    Fixed,
    NounPhrase,
    PersonName,
    Phrase,
    Prepositional,
    Pronoun,
    Relative,
)

Pair = tuple[str, str]
DEFINITE = (*["the"] * 10, "this", "my", "our", "his", "her", "their")
SUBJECTS = ("I", "we", "he", "she", "they")
ANY = (*DEFINITE, *["a"] * 8)


class Composer:
    """A source of random phrases and clauses; the same seed gives the same sentences."""

    def __init__(self, chance: Chance, *more: str) -> None:
        """Load the grammar; `more` as for `grammar`."""
        self.chance, self.grammar = chance, grammar(*more)
        self.table = self.grammar.table

    def happens(self, name: str) -> bool:
        return self.chance.happens(self.table.chances[name])

    # words and phrases

    def number(self, most: int) -> Pair:
        number = 2 + self.chance.below(self.chance.pick((8, 20, 98, most)))
        return digits(number) if number > 999 or self.happens("digits") else spelt(number)

    def stem(self) -> str:
        syllables = {name: words(row) for name, row in self.table.syllables.items()}
        opened = [self.chance.frequent(syllables["open"]) for _ in range(1 + self.chance.below(2))]
        return "".join([*opened, self.chance.frequent(syllables["closed"])]).capitalize()

    def name(self) -> PersonName:
        title = self.chance.pick((None, ("Mr.", "Herr"), ("Mrs.", "Frau")))
        return PersonName(self.stem(), title)

    def noun(self, kind: str) -> Noun:
        if kind == "person" and self.happens("foreign"):
            stem = self.stem()
            return Noun((f"{stem}ian", f"{stem}ians"), (f"{stem}ier", f"{stem}ier"), 0, "person")
        noun = self.chance.frequent(self.grammar.nouns[kind])
        compounds = self.table.compounds
        if noun.english[0] in compounds["last"] and self.happens("compound"):
            english, german = self.chance.frequent(compounds["first"]).split()
            return noun.compound(english, german)
        return noun

    def adjective(self, kind: str) -> Adjective | None:
        if not self.happens("adjective"):
            return None
        if self.happens("foreign"):
            stem = self.stem()
            return Adjective((f"{stem}ian", ""), (f"{stem.lower()}isch", ""))
        return self.chance.frequent(self.adjectives(kind))

    def adjectives(self, kind: str) -> Sequence[Adjective]:
        adjectives = self.grammar.adjectives
        return adjectives[kind if kind in adjectives else "thing"]

    def noun_phrase(self, kind: str, determiners: Sequence[str] = ANY) -> NounPhrase:
        noun, adjective, determiner = self.noun(kind), self.adjective(kind), self.chance.pick(determiners)
        if self.happens("number") and determiners is not DEFINITE:
            return NounPhrase(noun, "none", True, self.number(300), adjective)
        plural = self.happens("plural")
        return NounPhrase(noun, "none" if plural and determiner == "a" else determiner, plural, None, adjective)

    def person(self, determiners: Sequence[str] = ANY, pronouns: Sequence[str] = ("he", "she", "they")) -> Phrase:
        if self.happens("pronoun"):
            return Pronoun(self.chance.pick(pronouns))
        return self.name() if self.happens("name") else self.noun_phrase("person", determiners)

    def phrase(self, kinds: Sequence[str], determiners: Sequence[str] = ANY) -> Phrase:
        kind = self.chance.pick(kinds)
        return self.person(determiners) if kind == "person" else self.noun_phrase(kind, determiners)

    def prepositional(self, name: str) -> Prepositional:
        english, german, case, kind = words(self.table.prepositions[name])
        if kind == "place" and name in ("in", "into") and self.happens("foreign"):
            stem = self.stem()
            country = Fixed((f"{stem}ia", f"{stem}ien"), "place", "er")
            english, german = ("to", "nach") if name == "into" else ("in", "in")
            return Prepositional(english, german, case, country)
        return Prepositional(english, german, case, self.noun_phrase(kind, DEFINITE))

    # clauses

    def tense(self) -> str:
        return self.chance.pick(("present", "present", "past", "past", self.chance.pick(list(self.table.modals))))

    def time(self, tense: str) -> Pair | None:
        if not self.happens("time"):
            return None
        if self.happens("number"):
            hour = 2 + self.chance.below(10)
            english, german = spelt(hour)
            if self.chance.happens(50):
                return f"at half past {english}", f"um halb {spelt(hour + 1)[1]}"
            return f"at {english} o'clock", f"um {german} Uhr"
        english, german = words(
            self.chance.frequent(self.table.times[tense if tense in ("present", "past") else "modal"])
        )
        return english, german

    def clause(self, tense: str, subject: Phrase | None = None, what: Phrase | None = None) -> Clause:
        """Return a random clause, with this subject and this object unless they are None."""
        subject = subject or self.subject()
        verb = self.chance.frequent([verb for verb in self.grammar.verbs["words"] if _fits(verb, subject, what)])
        negated = self.happens("negation")
        determiners = DEFINITE if negated else ANY
        clause = Clause(subject, verb, tense, time=self.time(tense), to=self.chance.happens(50))
        if verb.whom:
            clause = replace(clause, whom=self.other(verb.whom, subject, determiners))
        if verb.what:
            clause = replace(clause, what=what or self.other(verb.what, subject, determiners))
        if verb.bound:
            clause = replace(clause, bound=self.other(verb.bound[2:], subject, DEFINITE))
        if verb.where:
            clause = replace(clause, place=self.prepositional(verb.where))
        elif not negated and self.happens("adjunct"):
            clause = replace(clause, place=self.prepositional(self.chance.pick(self.table.adjuncts["any"])))
        return self.negate(replace(clause, to=clause.to or isinstance(clause.what, Pronoun)), negated)

    def negate(self, clause: Clause, negated: bool) -> Clause:
        """Negate a clause by no and kein, or not and nicht; must and may would change their meaning, and stay."""
        if not negated or clause.tense in ("must", "may"):
            return clause
        if isinstance(clause.what, NounPhrase) and self.chance.happens(50):
            return replace(clause, what=replace(clause.what, determiner="no"))
        return replace(clause, negated=True)

    def subject(self) -> Phrase:
        kind = self.chance.pick(("person", "person", "person", "person", "person", "animal"))
        if kind == "animal":
            return self.noun_phrase(kind)
        return self.person(pronouns=SUBJECTS)

    def other(self, kinds: Sequence[str], subject: Phrase, determiners: Sequence[str]) -> Phrase:
        """Return a random phrase whose noun is not the subject's."""
        while True:
            phrase = self.phrase(kinds, determiners)
            if not isinstance(phrase, NounPhrase) or not isinstance(subject, NounPhrase) or phrase.noun != subject.noun:
                return phrase

    def relative(self, phrase: Phrase) -> Phrase:
        """Return the phrase, sometimes with a relative clause."""
        if not isinstance(phrase, NounPhrase) or phrase.determiner == "no" or not self.happens("relative"):
            return phrase
        tense = self.chance.pick(("present", "past"))
        if phrase.kind in ("person", "animal"):
            clause = self.clause(tense, subject=Relative(phrase))
        else:
            clause = self.clause(tense, self.person(pronouns=SUBJECTS), Relative(phrase))
        clause = replace(clause, time=None, negated=False)
        return replace(phrase, relative=(clause.english(), f", {clause.german_last()} ,"))

    def related(self, tense: str, clause: Clause) -> Clause:
        """Return a clause whose subject and object may be pronouns for those of another clause."""
        subject: Phrase | None = clause.subject.pronoun() if self.happens("refer") else None
        thing = clause.what.pronoun() if clause.what and self.happens("refer") else None
        if thing and (thing.kind == "person" or _negative(clause.what)):
            thing = None  # it would be unclear whom she sees
        if thing and (subject is None or subject.kind != "person"):
            subject = self.person(pronouns=SUBJECTS)
        return replace(self.clause(tense, subject, thing), time=None)


def _fits(verb: Verb, subject: Phrase, what: Phrase | None) -> bool:
    return subject.kind in verb.who and (what is None or what.kind in verb.what)


def _negative(phrase: Phrase | None) -> bool:
    return isinstance(phrase, NounPhrase) and phrase.determiner == "no"

"""Clauses and their word order: English has one order, German puts its verb second, first or last."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grammar.lexicon import Verb, grammar, third
from grammar.phrases import Phrase, Prepositional, Pronoun, Relative


@dataclass(frozen=True)
class Clause:
    """A subject, a verb and their complements, which yields its English and its German."""

    subject: Phrase
    verb: Verb
    tense: str = "present"  # past, or a modal verb
    whom: Phrase | None = None
    what: Phrase | None = None
    bound: Phrase | None = None  # the object that the German verb joins with a preposition
    place: Prepositional | None = None
    time: tuple[str, str] | None = None
    negated: bool = False
    to: bool = False  # "gives the book to the child", not "gives the child the book"

    def english_verb(self) -> tuple[str, str]:
        """Return the auxiliary, which inverts in a question, and the main verb."""
        base, past = self.verb.english
        if self.tense == "past":
            return ("did", base) if self.negated else ("", past)
        if self.tense != "present":
            return self.tense, base
        singular = self.subject.person == "er"
        if self.negated:
            return "does" if singular else "do", base
        return "", third(base) if singular else base

    def english_rest(self, verb: str) -> list[str]:
        head, _, particle = verb.partition("|")
        what = self.what or self.bound
        gap = isinstance(what, Relative)
        words = [] if what is None or gap else [what.english("object")]
        particle_last = isinstance(what, Pronoun) or gap
        words = [*words, particle] if particle_last else [particle, *words]
        if self.whom:
            whom = self.whom.english("object")
            words = [*words, "to", whom] if self.to and what else [whom, *words]
        if self.place:
            words.append(self.place.english())
        return [head, *words]

    def english(self, front: bool = False) -> str:
        first, verb = self.english_verb()
        auxiliary = [first]
        if self.negated:
            auxiliary = ["cannot"] if first == "can" else [first, "not"]
        time = [self.time[0]] if self.time else []
        pronoun = [self.what.english("object")] if isinstance(self.what, Relative) else []
        words = [*pronoun, self.subject.english("subject"), *auxiliary, *self.english_rest(verb)]
        return join([*time, *words] if front else [*words, *time])

    def english_question(self) -> str:
        first, verb = self.english_verb()
        if not first:
            first, verb = replace(self, negated=True).english_verb()
        time = [self.time[0]] if self.time else []
        return join([first, self.subject.english("subject"), *self.english_rest(verb), *time])

    def english_infinitive(self) -> str:
        return join(["to", *self.english_rest(self.verb.english[0])])

    def german_verb(self) -> tuple[str, str]:
        """Return the finite verb, and the word that ends the clause."""
        verb, person, forms = self.verb, self.subject.person, grammar().finite
        if self.tense == "present":
            return forms(verb.infinitive, person, verb.present), verb.particle
        if self.tense == "past":
            return forms(verb.auxiliary, person), verb.particle + verb.participle
        return forms(grammar().table.modals[self.tense], person), verb.particle + verb.infinitive

    def german_middle(self, time: bool = True) -> list[str]:
        """Return pronouns, time, dative, accusative, nicht, prepositional phrases; time follows what is negated."""
        objects = [(self.what, "accusative"), (self.whom, "dative")]
        light = [phrase.german(case) for phrase, case in objects if isinstance(phrase, Pronoun)]
        full = [phrase.german(case) for phrase, case in reversed(objects) if phrase and not _moved(phrase)]
        when = [self.time[1]] if self.time and time else []
        no = ["nicht"] if self.negated else []
        bound = []
        if self.bound:
            preposition, case, *_ = self.verb.bound
            bound = [Prepositional("", preposition, case, self.bound).german()]
        place = [self.place.german()] if self.place else []
        return [*light, *(full + when if self.negated else when + full), *no, *bound, *place]

    def german(self, front: bool = False) -> str:
        """Return the clause with the finite verb second, behind the subject or the time."""
        finite, end = self.german_verb()
        subject = self.subject.german("nominative")
        if front and self.time:
            return join([self.time[1], finite, subject, *self.german_middle(time=False), end])
        return join([subject, finite, *self.german_middle(), end])

    def german_first(self) -> str:
        """Return the clause with the finite verb first: in questions, and after a subordinate clause."""
        finite, end = self.german_verb()
        return join([finite, self.subject.german("nominative"), *self.german_middle(), end])

    def german_last(self) -> str:
        finite, end = self.german_verb()
        if self.tense == "present":
            finite, end = end + finite, ""
        pronoun = [self.what.german("accusative")] if isinstance(self.what, Relative) else []
        return join([*pronoun, self.subject.german("nominative"), *self.german_middle(), end, finite])

    def german_infinitive(self) -> str:
        verb = self.verb
        zu = f"{verb.particle}zu{verb.infinitive}" if verb.particle else f"zu {verb.infinitive}"
        return join([*self.german_middle(), zu])


def _moved(phrase: Phrase) -> bool:
    """Return whether a phrase is a pronoun, which stands before the rest."""
    return isinstance(phrase, (Pronoun, Relative))


def join(words: Sequence[str]) -> str:
    return " ".join(word for word in words if word)

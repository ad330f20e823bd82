"""A clause, and the order of its words: English has one, German puts its verb second, first or last."""

from collections.abc import Sequence
from dataclasses import dataclass

from realformer_nmt.corpora.invented.lexicon import Verb, grammar, third
from realformer_nmt.corpora.invented.phrases import Phrase, Prepositional, Pronoun, Relative


@dataclass(frozen=True)
class Clause:
    subject: Phrase
    verb: Verb
    tense: str = "present"  # past, or a modal verb
    whom: Phrase | None = None
    what: Phrase | None = None
    bound: Phrase | None = None  # what the German verb has a preposition for
    place: Prepositional | None = None
    time: tuple[str, str] | None = None
    negated: bool = False
    to: bool = False  # gives the book to the child

    def english_verb(self) -> tuple[str, str]:
        """What inverts in a question, and the rest."""
        base, past = self.verb.english
        if self.tense == "past":
            return ("did", base) if self.negated else ("", past)
        if self.tense == "present":
            singular = self.subject.person == "er"
            return ("does" if singular else "do", base) if self.negated else ("", third(base) if singular else base)
        return self.tense, base

    def english_rest(self, verb: str) -> list[str]:
        head, _, particle = verb.partition("|")
        what = self.what or self.bound
        gap = isinstance(what, Relative)
        said = [] if what is None or gap else [what.english("object")]
        if isinstance(what, Pronoun) or gap:
            said, particle = [*said, particle], ""
        said = [particle, *said]
        if self.whom:
            whom = self.whom.english("object")
            said = [*said, "to", whom] if self.to and what else [whom, *said]
        return [head, *said, *([self.place.english()] if self.place else [])]

    def english(self, front: bool = False) -> str:
        first, verb = self.english_verb()
        negation = {"can": ["cannot"]}.get(first, [first, "not"]) if self.negated else [first]
        time = [self.time[0]] if self.time else []
        gap = [what.english("object") for what in (self.what,) if isinstance(what, Relative)]
        words = [*gap, self.subject.english("subject"), *negation, *self.english_rest(verb)]
        return join([*time, *words] if front else [*words, *time])

    def english_question(self) -> str:
        first, verb = self.english_verb()
        if not first:
            first = "did" if self.tense == "past" else "does" if self.subject.person == "er" else "do"
            verb = self.verb.english[0]
        time = [self.time[0]] if self.time else []
        return join([first, self.subject.english("subject"), *self.english_rest(verb), *time])

    def english_infinitive(self) -> str:
        return join(["to", *self.english_rest(self.verb.english[0])])

    def german_verb(self) -> tuple[str, str]:
        """The finite verb and what closes the clause."""
        verb, person, forms = self.verb, self.subject.person, grammar().finite
        if self.tense == "present":
            return forms(verb.infinitive, person, verb.present), verb.particle
        if self.tense == "past":
            return forms(verb.auxiliary, person), verb.particle + verb.participle
        return forms(grammar().table["modals"][self.tense], person), verb.particle + verb.infinitive

    def german_middle(self, time: bool = True) -> list[str]:
        """Pronouns, time, dative, accusative, nicht, what has a preposition; time stands behind what is negated."""
        objects = [(self.what, "accusative"), (self.whom, "dative")]
        light = [said.german(case) for said, case in objects if isinstance(said, Pronoun)]
        full = [said.german(case) for said, case in reversed(objects) if said and not _moved(said)]
        when = [self.time[1]] if self.time and time else []
        no = ["nicht"] if self.negated else []
        bound = []
        if self.bound:
            preposition, case, *_ = self.verb.bound
            bound = [Prepositional("", preposition, case, self.bound).german()]
        place = [self.place.german()] if self.place else []
        return [*light, *(full + when if self.negated else when + full), *no, *bound, *place]

    def german(self, front: bool = False) -> str:
        """The finite verb second, behind the subject or the time."""
        finite, end = self.german_verb()
        subject = self.subject.german("nominative")
        if front and self.time:
            return join([self.time[1], finite, subject, *self.german_middle(time=False), end])
        return join([subject, finite, *self.german_middle(), end])

    def german_first(self) -> str:
        """The finite verb first: in questions, and after a subordinate clause."""
        finite, end = self.german_verb()
        return join([finite, self.subject.german("nominative"), *self.german_middle(), end])

    def german_last(self) -> str:
        finite, end = self.german_verb()
        if self.tense == "present":
            finite, end = end + finite, ""
        gap = [what.german("accusative") for what in (self.what,) if isinstance(what, Relative)]
        return join([*gap, self.subject.german("nominative"), *self.german_middle(), end, finite])

    def german_infinitive(self) -> str:
        verb = self.verb
        zu = f"{verb.particle}zu{verb.infinitive}" if verb.particle else f"zu {verb.infinitive}"
        return join([*self.german_middle(), zu])


def _moved(phrase: Phrase) -> bool:
    """Pronouns stand before the rest."""
    return isinstance(phrase, (Pronoun, Relative))


def join(words: Sequence[str]) -> str:
    return " ".join(word for word in words if word)

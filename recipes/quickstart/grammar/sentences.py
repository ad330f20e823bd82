"""Types of sentences, English and German: one function per type, drawn by the weights in grammar.toml."""

import re
from collections.abc import Callable
from dataclasses import replace

from grammar.clauses import Clause, join
from grammar.composer import DEFINITE, SUBJECTS, Composer, Pair
from grammar.lexicon import words
from grammar.phrases import Fixed, NounPhrase

Kind = Callable[[Composer], Pair]


def sentence(composer: Composer) -> Pair:
    english, german = KINDS[composer.chance.weighted(composer.table.sentences)](composer)
    return tidy(english), tidy(german)


def tidy(text: str) -> str:
    """Capitalise the sentence and correct its commas: no two in a row, none before the end."""
    text = re.sub(r"( ,)+(?= [.?]| ,|$)", "", text)
    return re.sub(r" (?=[,.?])", "", text[0].upper() + text[1:])


def statement(composer: Composer) -> Pair:
    clause = composer.clause(composer.tense())
    subject = composer.relative(clause.subject)
    if subject is clause.subject and clause.what:
        clause = replace(clause, what=composer.relative(clause.what))
    front = composer.happens("front")
    clause = replace(clause, subject=subject)
    return f"{clause.english(front)} .", f"{clause.german(front)} ."


def subordinate(composer: Composer) -> Pair:
    tense = composer.tense()
    main = composer.clause(tense)
    conjunctions = composer.table.conjunctions
    english, german = words(composer.chance.pick(conjunctions.get(tense, conjunctions["modal"])))
    side = composer.related(tense, main)
    if composer.happens("front"):
        main = replace(main, time=None)
        return (
            f"{english} {side.english()} , {main.english()} .",
            f"{german} {side.german_last()} , {main.german_first()} .",
        )
    return f"{main.english()} {english} {side.english()} .", f"{main.german()} , {german} {side.german_last()} ."


def coordinate(composer: Composer) -> Pair:
    tense = composer.tense()
    first = composer.clause(tense)
    second = composer.related(tense, first)
    english, german = words(composer.chance.pick(composer.table.coordinators["any"]))
    return f"{first.english()} {english} {second.english()} .", f"{first.german()} {german} {second.german()} ."


def saying(composer: Composer, tense: str = "") -> Pair:
    tense = tense or composer.tense()
    past = tense == "past" and composer.chance.happens(50)
    verb = composer.chance.frequent(composer.grammar.verbs["saying"])
    subject = composer.person(pronouns=SUBJECTS)
    main = Clause(subject, verb, "past" if past else "present", negated=composer.happens("negation"))
    side = composer.clause(tense)
    return f"{main.english()} that {side.english()} .", f"{main.german()} , dass {side.german_last()} ."


def reason(composer: Composer) -> Pair:
    """Return a pair such as "The doctor believes that the child slept because she closed the window".

    It has three clauses, two of which end with the verb in German."""
    tense = composer.chance.pick(("present", "past"))
    english, german = saying(composer, tense)
    conjunction, link = words(composer.chance.pick(composer.table.conjunctions["modal"]))
    side = replace(composer.clause(tense), time=None)
    return (
        f"{english.removesuffix(' .')} {conjunction} {side.english()} .",
        f"{german.removesuffix(' .')} , {link} {side.german_last()} .",
    )


def question(composer: Composer) -> Pair:
    clause = composer.clause(composer.tense())
    clause = replace(clause, negated=False)
    return f"{clause.english_question()} ?", f"{clause.german_first()} ?"


def trying(composer: Composer) -> Pair:
    verb = composer.chance.frequent(composer.grammar.verbs["trying"])
    subject = composer.person(pronouns=SUBJECTS)
    main = Clause(subject, verb, composer.chance.pick(("present", "past")))
    tried = replace(composer.clause("present", subject), time=None, negated=False)
    return f"{main.english()} {tried.english_infinitive()} .", f"{main.german()} , {tried.german_infinitive()} ."


def comparison(composer: Composer) -> Pair:
    """Return a pair such as "The tables are not bigger than my chair"."""
    kind = composer.chance.pick(("person", "animal", "thing", "food"))
    subject = replace(composer.noun_phrase(kind, DEFINITE), adjective=None)
    other = composer.other((kind,), subject, DEFINITE)
    if not isinstance(other, NounPhrase):
        return comparison(composer)
    adjective = composer.chance.frequent(composer.adjectives(kind))
    past, negated = composer.chance.happens(50), composer.happens("negation")
    english = {"er": "was" if past else "is", "sie": "were" if past else "are"}[subject.person]
    german = composer.grammar.finite("war" if past else "sein", subject.person)
    english_words = [subject.english("subject"), english, "not" if negated else ""]
    german_words = [subject.german("nominative"), german, "nicht" if negated else ""]
    if composer.chance.happens(25):
        english_words += [adjective.english[1], "than", other.english("subject")]
        german_words += [adjective.german[1], "als", other.german("nominative")]
    else:
        english_words.append(adjective.english[0])
        german_words.append(adjective.german[0])
    return join([*english_words, "."]), join([*german_words, "."])


def existence(composer: Composer) -> Pair:
    """Return a pair such as "There is a lamp in the kitchen", sometimes with the place first."""
    kind = composer.chance.pick(("person", "animal", "thing", "food"))
    phrase = composer.noun_phrase(kind, ("a", "a", "no"))
    place = composer.prepositional(composer.chance.pick(("in", "behind")))
    past = composer.chance.happens(50)
    verb = {"er": "was" if past else "is", "sie": "were" if past else "are"}[phrase.person]
    finite, what = "gab" if past else "gibt", phrase.german("accusative")
    if composer.chance.happens(15):
        return f"{verb} there {phrase.english('object')} {place.english()} ?", f"{finite} es {what} {place.german()} ?"
    if composer.happens("front"):
        english = f"{place.english()} there {verb} {phrase.english('object')}"
        return f"{english} .", f"{place.german()} {finite} es {what} ."
    english = f"there {verb} {phrase.english('object')} {place.english()}"
    return f"{english} .", f"es {finite} {what} {place.german()} ."


def price(composer: Composer) -> Pair:
    verb = composer.grammar.verbs["costing"][0]
    subject = composer.noun_phrase(composer.chance.pick(verb.who), DEFINITE)
    tense = composer.chance.pick(("present", "past")) if subject.person == "er" else "present"  # "they cost" is both
    english, german = composer.number(4000)
    amount = Fixed((f"{english} euros", f"{german} Euro"), "amount", "sie")
    clause = Clause(subject, verb, tense, what=amount, time=composer.time(tense))
    front = composer.happens("front")
    return f"{clause.english(front)} .", f"{clause.german(front)} ."


KINDS: dict[str, Kind] = {
    kind.__name__: kind
    for kind in (statement, subordinate, coordinate, saying, reason, question, trying, comparison, existence, price)
}

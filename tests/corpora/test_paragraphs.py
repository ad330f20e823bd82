"""Sentences of texts, against cuts by hand; and texts that come back as they were."""

import pytest

from realformer_nmt.corpora.paragraphs import Paragraphs

CUT_BY_HAND = {  # | stands where a sentence ends
    "de": [
        "Er ist z. B. am 3. Mai in St. Pölten.| Dr. Meier kam nicht!| Sie ging…|  Dann, usw. und so weiter.",
        "»Ja.«| Er rief: „Wirklich?“| „Ja!“| Dann (ca. 5 Uhr) ging er. so ist es",
        "Es kamen 3,5 Mio. Leute, d. h. alle.| 1999 war es.",
    ],
    "de_DE": ["Am 24. Dezember kam Prof. Meier.| Er blieb."],
    "en": [
        'Mr. Smith, e.g. Paris, left the U.S. in 1999.| He did... nothing.| Then he "stopped."| "Why?" he asked.',
        "No. 5 is no.| No.| It cost 3.5.| Really?!| Yes...| ¿Qué?| And (of course.)| (So it is.)",
        "1. First item.| 2. Second item.",
        "first line|\nSecond line|\r\n\r\n\tthird line.| \n",
        "see (a|\n) and b.",
    ],
    "fr": ["« Oui. »| Il est parti.| Vraiment ?| « Non », dit M. Dupont.| Oui !"],
    "hi": ["यह एक किताब है।| वह गया।"],
    "ar": ["هل هذا كتاب؟| نعم."],
    "nn": ["Hei.| Mr. X kom."],  # Moses has no list of it
    "es": ["", "  \t", "...", "? ! .", "One sentence"],
}


def texts_of(language: str) -> list[str]:
    return [text.replace("|", "") for text in CUT_BY_HAND[language]]


@pytest.mark.parametrize("language", CUT_BY_HAND)
def test_sentences_are_those_cut_by_hand(language: str) -> None:
    for text, by_hand in zip(texts_of(language), CUT_BY_HAND[language], strict=True):
        sentences = [*filter(None, map(str.strip, by_hand.split("|")))]
        assert Paragraphs([text], language, True).sentences == (sentences or [""])


@pytest.mark.parametrize("split_sentences", [True, False])
def test_white_space_and_line_breaks_come_back(split_sentences: bool) -> None:
    for language in CUT_BY_HAND:
        texts = texts_of(language)
        paragraphs = Paragraphs(texts, language, split_sentences)
        assert paragraphs.joined(paragraphs.sentences) == texts
        assert split_sentences or paragraphs.sentences == texts


def test_translations_take_the_places_of_their_sentences() -> None:
    paragraphs = Paragraphs([" One.  Two.\n", "", "Three. "], "en", True)
    assert paragraphs.sentences == ["One.", "Two.", "", "Three."]
    assert paragraphs.numbers() == [1, 1, 2, 3]
    assert paragraphs.joined(["Eins.", "Zwei.", "", "Drei."]) == [" Eins.  Zwei.\n", "", "Drei. "]


def test_a_tag_of_the_target_language_holds_for_each_sentence() -> None:
    assert Paragraphs([">>fra<< One. Two."], "en", True).sentences == [">>fra<< One.", ">>fra<< Two."]


def test_chinese_and_japanese_have_no_space_between_sentences() -> None:
    one, two, quoted = "\u3053\u308c\u3002", "\u305d\u308c\uff1f", "\u300c\u306f\u3044\u3002\u300d\u3068\u3002"
    paragraphs = Paragraphs([one + two + quoted], "ja", True)
    assert paragraphs.sentences == [one, two, quoted]
    assert paragraphs.joined(["This.", "That?", "He said yes."]) == ["This. That? He said yes."]
    assert Paragraphs(["This. That?"], "en", True).joined([one, two]) == [one + two]
    number = "\uff13\uff0e\uff15\u3002"  # 3.5 and a full stop
    assert Paragraphs([number + one], "ja", True).sentences == [number, one]


@pytest.mark.parametrize("run", [". ( ", " »", "a. ", "."])
def test_a_long_line_takes_no_long_time(run: str) -> None:
    """A rule that tried every end of a run again would take minutes."""
    assert len(Paragraphs([f". {run * 50_000}a b"], "en", True).sentences) == 1

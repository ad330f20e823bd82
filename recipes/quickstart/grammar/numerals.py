"""Numbers in words and in digits: twenty-one, einundzwanzig; 1,250, 1.250."""

from grammar.lexicon import grammar, words


def digits(number: int) -> tuple[str, str]:
    english = f"{number:,}"
    return english, english.replace(",", ".")


def spelt(number: int) -> tuple[str, str]:
    """Return a number from 2 to 999 in English and German words."""
    table = grammar().table.numerals
    english, german = ({name: words(row) for name, row in table[side].items()} for side in ("english", "german"))
    hundreds, rest = divmod(number, 100)
    english_words, german_word = [], ""
    if hundreds:
        english_words.append(f"{english['below_twenty'][hundreds]} hundred")
        german_word = f"{german['below_twenty'][hundreds]}hundert"
    if rest == 1:
        return " ".join([*english_words, "one"]), f"{german_word}eins"
    tens, ones = divmod(rest, 10)
    if 0 < rest < 20:
        english_words.append(english["below_twenty"][rest])
        german_word += german["below_twenty"][rest]
    elif rest:
        english_words.append("-".join([english["tens"][tens], *([english["below_twenty"][ones]] if ones else [])]))
        german_word += (f"{german['below_twenty'][ones]}und" if ones else "") + german["tens"][tens]
    return " ".join(english_words), german_word

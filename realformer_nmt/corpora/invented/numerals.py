"""Numbers in words and in digits: twenty-one, einundzwanzig; 1,250, 1.250."""

from realformer_nmt.corpora.invented.lexicon import grammar, words


def digits(number: int) -> tuple[str, str]:
    english = f"{number:,}"
    return english, english.replace(",", ".")


def spelt(number: int) -> tuple[str, str]:
    """English and German, from two to 999."""
    table = grammar().table["numerals"]
    english, german = ({name: words(row) for name, row in table[side].items()} for side in ("english", "german"))
    hundreds, rest = divmod(number, 100)
    ours, theirs = [], ""
    if hundreds:
        ours.append(f"{english['below_twenty'][hundreds]} hundred")
        theirs = f"{german['below_twenty'][hundreds]}hundert"
    if rest == 1:
        return " ".join([*ours, "one"]), f"{theirs}eins"
    tens, ones = divmod(rest, 10)
    if 0 < rest < 20:
        ours.append(english["below_twenty"][rest])
        theirs += german["below_twenty"][rest]
    elif rest:
        ours.append("-".join([english["tens"][tens], *([english["below_twenty"][ones]] if ones else [])]))
        theirs += (f"{german['below_twenty'][ones]}und" if ones else "") + german["tens"][tens]
    return " ".join(ours), theirs

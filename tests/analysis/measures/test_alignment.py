from pathlib import Path

import pytest
import torch

from realformer_nmt.analysis.measures.alignment import Counts, Links, parse, read
from realformer_nmt.common.errors import UserError

FILE = Path("test.links")


def test_links_are_read() -> None:
    links = parse("0-0 1p2 2-1", FILE, 1)
    assert links.sure == {(0, 0), (2, 1)}
    assert links.possible == {(0, 0), (2, 1), (1, 2)}
    assert parse("", FILE, 1) == Links(frozenset(), frozenset())


@pytest.mark.parametrize("word", ["0", "a-b", "1--2", "-1", "1-", "0p1p2"])
def test_what_is_no_link_is_named(word: str) -> None:
    with pytest.raises(UserError, match=r"test.links, line 3: '.*' is not a link; allowed are"):
        parse(f"0-0 {word}", FILE, 3)


def test_a_line_for_each_sentence(tmp_path: Path) -> None:
    file = tmp_path / "links"
    file.write_text("0-0\n\n1-1\n")
    assert [len(links.sure) for links in read(file, 3)] == [1, 0, 1]
    with pytest.raises(UserError, match="has 3 lines, and the text has 4 sentences"):
        read(file, 4)


def test_the_rate_by_hand() -> None:
    """Source: two words of 2 and 1 pieces; target: three words of 1, 1 and 2. The last row of each head predicts the
    end. Head 1 looks at 0 0 1 2 -> words 0 0 0 1, links 0-0 0-1 0-2 1-2; head 2 at the end but for the first."""
    source, target = ["ha@@", "us", "x"], ["a", "b", "c@@", "d"]
    links = Links(frozenset({(0, 0), (1, 2)}), frozenset({(0, 0), (1, 2), (0, 1)}))
    looked = torch.tensor([[0, 0, 1, 2, 3], [2, 3, 3, 3, 3]])
    counts = Counts(1, 2)
    counts.add(1, torch.nn.functional.one_hot(looked, 4).float(), source, target, links)
    # head 1: A n S = {0-0, 1-2}, A n P adds 0-1: 1 - (2 + 3) / (4 + 2); head 2: A = {1-0}: 1 - 0 / (1 + 2)
    assert counts.rates() == [pytest.approx([1 - 5 / 6, 1.0])]

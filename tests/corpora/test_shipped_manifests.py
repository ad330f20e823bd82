"""The manifests that the package brings: their languages, archives and protocols."""

from pathlib import Path

import pytest
from programs.program import REPOSITORY

from realformer_nmt.corpora.manifest import load, shipped


@pytest.mark.parametrize("name", shipped())
def test_shipped_sides_are_in_their_languages(name: str) -> None:
    corpus = load(name)
    languages = {"en", "de", "fr"}
    for part in corpus.parts:
        for member, language in (part.source, corpus.source), (part.target, corpus.target):
            assert [word for word in member.path.split(".") if word in languages][-1] == language
        assert (part.format == "gzip") == part.source.path.endswith(".gz") == part.target.path.endswith(".gz")
        assert (part.format == "sgm") == part.source.path.endswith((".sgm", ".xml"))


@pytest.mark.parametrize("name", shipped())
def test_shipped_archives_are_asked_for_by_https_first(name: str) -> None:
    for archive in load(name).archives:
        assert len({packing.check for packing in archive.packings}) == len(archive.packings)
        for packing in archive.packings:
            secure = [url.startswith("https://") for url in packing.urls]
            assert secure == sorted(secure, reverse=True)
            assert secure[0]


def test_the_protocols_are_those_of_the_papers() -> None:
    """The steps of ADMIN's three scripts: merges, lengths, what is counted when, validation, switches."""

    def steps(name: str) -> tuple[object, ...]:
        corpus = load(name)
        protocol, lengths = corpus.protocol, corpus.protocol.lengths
        switches = (protocol.normalise_punctuation, protocol.aggressive_hyphens, protocol.lowercase)
        held_out = corpus.held_out and (corpus.held_out.every, corpus.held_out.counted)
        assert protocol.remove_nonprinting == protocol.normalise_punctuation
        assert protocol.joined_dictionary
        assert not protocol.normalise_test
        return (protocol.bpe, lengths.min, lengths.max, lengths.ratio, lengths.counted, held_out, switches)

    german = (32764, 1, 80, 9, "before_bpe", None, (True, True, False))
    assert steps("wmt14_en_de") == steps("wmt14_en_de_v9") == german
    assert steps("wmt14_en_fr") == (40000, 1, 250, 1.5, "after_bpe", (1333, "before_cleaning"), (True, True, False))
    assert steps("iwslt14_de_en") == (10000, 1, 175, 1.5, "before_bpe", (23, "after_cleaning"), (False, False, True))
    assert [part.source.path for part in load("wmt14_en_de").valid] == ["dev/newstest2013.en"]


def test_the_variant_differs_in_news_commentary_alone() -> None:
    papers, variant = load("wmt14_en_de"), load("wmt14_en_de_v9")
    assert papers.train[:2] == variant.train[:2]
    assert papers.train[2].source.path.replace("v12", "v9") == variant.train[2].source.path
    assert (papers.valid, papers.test, papers.protocol) == (variant.valid, variant.test, variant.protocol)
    names = [{archive.name for archive in corpus.archives} for corpus in (papers, variant)]
    assert names[0] ^ names[1] == {"news-commentary-v12", "news-commentary-v9"}


def test_the_documented_manifest_is_the_shipped_one_but_for_what_it_says(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "manifests.md").read_text()
    (tmp_path / "mine.toml").write_text(page.partition("```toml\n")[2].partition("```")[0])
    mine, papers = load(tmp_path / "mine.toml"), load("wmt14_en_de")
    assert mine.train == papers.train[:1]
    assert (mine.valid, mine.test, mine.protocol) == (papers.valid, papers.test, papers.protocol)
    assert mine.archives[0].packings[0].check == papers.archives[0].packings[0].check
    assert mine.archives[0].packings[0].name == "europarl.tgz"

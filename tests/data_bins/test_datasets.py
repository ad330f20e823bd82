"""fairseq under the plug-in reads no damaged data-bin; reliability/attacks_databins.py tries more of the same."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from fairseq import tasks
from fairseq.data import indexed_dataset

from realformer_nmt.common.errors import UserError
from realformer_nmt.data_bins import file_checks
from realformer_nmt.protocols.running import updates
from reliability import attacks_databins, hostile_databins

SIDE = hostile_databins.SIDE


def test_no_flip_of_what_was_prepared_is_read(toy_corpus: Path, tmp_path: Path) -> None:
    assert attacks_databins.flip_prepared(toy_corpus, tmp_path / "prepared", 40) == 40


def test_without_a_hash_nothing_is_read_out_of_bounds(toy_corpus: Path, tmp_path: Path) -> None:
    assert attacks_databins.flip_bare(toy_corpus, tmp_path / "bare", 60)["refused"] > 20


def test_indexes_and_names_that_cannot_be_are_refused(toy_corpus: Path, tmp_path: Path) -> None:
    assert attacks_databins.refuse(hostile_databins.indexes(toy_corpus, tmp_path / "indexes")) > 14
    assert attacks_databins.refuse(hostile_databins.names(toy_corpus, tmp_path / "names")) > 14
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize("impl", ["raw", "fasta"])
def test_other_formats_are_refused_by_name(toy_corpus: Path, impl: str) -> None:
    with pytest.raises(UserError, match=f"--dataset-impl {impl}: allowed is mmap"):
        indexed_dataset.make_dataset(str(toy_corpus / SIDE), impl)


def test_what_is_sound_is_read_as_stock_reads_it(toy_corpus: Path, tmp_path: Path) -> None:
    prepared = attacks_databins.prepare(toy_corpus, tmp_path / "prepared")
    (tmp_path / "link").symlink_to(prepared)
    stock = indexed_dataset.MMapIndexedDataset(str(toy_corpus / SIDE))
    for data in (toy_corpus, prepared, tmp_path / "link"):
        dataset = attacks_databins.load(data).src
        assert len(dataset) == len(stock)
        assert all(torch.equal(dataset[number], stock[number]) for number in range(0, len(stock), 97))


def test_a_link_is_held_to_the_hash_of_what_it_leads_to(toy_corpus: Path, tmp_path: Path) -> None:
    prepared = attacks_databins.prepare(toy_corpus, tmp_path / "prepared")
    (tmp_path / "link").symlink_to(prepared)
    words = (prepared / "dict.src.txt").read_text().splitlines(keepends=True)
    (prepared / "dict.src.txt").write_text("".join([words[1], words[0], *words[2:]]))
    with pytest.raises(UserError, match=r"dict\.src\.txt has changed, says .*prepare\.json"):
        attacks_databins.load(tmp_path / "link")


def test_a_file_that_was_not_prepared_and_one_that_is_gone_are_named(toy_corpus: Path, tmp_path: Path) -> None:
    prepared = attacks_databins.prepare(toy_corpus, tmp_path / "prepared")
    target = prepared / "train.src-tgt.tgt.bin"
    content = target.read_bytes()
    target.unlink()
    target.with_suffix(".idx").unlink()
    with pytest.raises(UserError, match=r"train\.src-tgt\.tgt\.idx is gone"):
        attacks_databins.load(prepared)
    target.write_bytes(content)
    shutil.copy(toy_corpus / "train.src-tgt.tgt.idx", prepared)
    for language in ("src", "tgt"):
        for suffix in ("idx", "bin"):
            name = f"src-tgt.{language}.{suffix}"
            shutil.copy(prepared / f"train.{name}", prepared / f"train1.{name}")
    cfg = updates.parse([str(prepared), "--arch", "realformer_tiny", "--max-tokens", "100"])
    with pytest.raises(UserError, match=r"train1\.src-tgt\.src\.idx was not prepared with the rest"):
        tasks.setup_task(cfg.task).load_dataset("train", combine=True)


def test_languages_with_hyphens_are_found_without_being_named(toy_corpus: Path, tmp_path: Path) -> None:
    for file in toy_corpus.iterdir():
        shutil.copy(file, tmp_path / file.name.replace("tgt", "zh-Hans"))
    assert len(attacks_databins.load(tmp_path)) == 2000


@pytest.mark.parametrize("language", ["../de", "$(id)", "de.x", "${oc.env:HOME}"])
def test_languages_of_options_are_checked(toy_corpus: Path, language: str) -> None:
    words = [str(toy_corpus), "--arch", "realformer_tiny", "--max-tokens", "100", "--target-lang", language]
    with pytest.raises(UserError, match="names no language"):
        tasks.setup_task(updates.parse(words).task)


@pytest.mark.parametrize(
    "edited",
    [
        {"sha256": {}},
        {"sha256": {"data-bin/dict.src.txt": "0"}},
        {"bytes": {"data-bin/dict.src.txt": "5"}},
        {"bytes": {"../../etc/passwd": 5}, "sha256": {"../../etc/passwd": "0" * 64}},
        {"bytes": None},
    ],
)
def test_an_edited_note_is_named(toy_corpus: Path, tmp_path: Path, edited: dict[str, object]) -> None:
    prepared = attacks_databins.prepare(toy_corpus, tmp_path)
    record = tmp_path / file_checks.NAME
    record.write_text(json.dumps({**json.loads(record.read_text()), **edited}))
    with pytest.raises(UserError, match=r"prepare\.json (is damaged|has an unexpected format)"):
        attacks_databins.load(prepared)

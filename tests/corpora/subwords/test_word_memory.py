"""An encoder splits each word once, and its memory stays within its bound."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from realformer_nmt.corpora.subwords import subwords
from realformer_nmt.corpora.subwords.subwords import WordMemory


def test_each_word_is_split_once_until_it_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subwords, "REMEMBERED", 3)
    misses: list[str] = []

    def doubled(words: list[str]) -> list[str]:
        misses.extend(words)
        return [f"{word}@@ {word}" for word in words]

    memory = WordMemory(doubled)
    assert memory(["a b a", "", "a"]) == ["a@@ a b@@ b a@@ a", "@@ ", "a@@ a"]
    assert sorted(misses) == ["", "a", "b"]
    assert memory(["c a"]) == ["c@@ c a@@ a"]
    assert misses[3:] == ["c"]  # a is known
    assert memory(["a"]) == ["a@@ a"]
    assert misses[4:] == ["a"]  # four words are more than three: all were forgotten
    assert len(memory.memory) == 1


def test_a_thread_that_forgets_all_takes_no_words_from_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subwords, "REMEMBERED", -1)  # each call forgets
    everyone = threading.Barrier(4, timeout=30)

    def upper(words: list[str]) -> list[str]:
        everyone.wait()  # until each thread has forgotten
        return [word.upper() for word in words]

    memory = WordMemory(upper)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda word: memory([f"{word} {word}"]), "abcd")) == [
            ["A A"],
            ["B B"],
            ["C C"],
            ["D D"],
        ]

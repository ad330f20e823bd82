"""An encoder that splits each different word once."""

import itertools

from realformer_nmt.corpora.subwords.subwords import Encoder, Lines

REMEMBERED = 200_000  # words; about 50 MB


class WordMemory:
    """An encoder that remembers the subwords of each word; `encode` takes words in place of lines.

    Threads may share it.
    """

    def __init__(self, encode: Encoder) -> None:
        self.encode = encode
        self.memory: dict[str, str] = {}

    def __call__(self, lines: Lines) -> Lines:
        sentences = [line.split(" ") for line in lines]
        words = set(itertools.chain.from_iterable(sentences))
        memory = self.memory  # another thread may begin a new one meanwhile
        if len(memory) > REMEMBERED:
            memory = self.memory = {}
        new = [word for word in words if word not in memory]
        memory.update(zip(new, self.encode(new), strict=True))
        return [" ".join(map(memory.__getitem__, sentence)) for sentence in sentences]

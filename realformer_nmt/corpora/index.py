"""The beginning of fairseq's mmap index, the .idx file beside every .bin of a data-bin."""

import struct

HEADER = struct.Struct("<9sQBQ")  # magic, version, type of the numbers, how many lines

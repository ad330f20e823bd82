#!/usr/bin/env python3
"""Write an English-German corpus of Debian's packages: train, valid and test .en and .de. Needs Debian 12's apt-get."""

import argparse
from pathlib import Path

from debian_text.documents import read_pairs
from debian_text.packages import Package, download, read_rows
from debian_text.splits import split_pairs

from realformer_nmt.common.files.text_lines import write_lines

TABLES = Path(__file__).parent / "tables"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the files are written")
    parser.add_argument("--packages", type=Path, required=True, help="where the packages are downloaded to")
    parser.add_argument("--tables", type=Path, default=TABLES, help="folder of the recipe's tables")
    options = parser.parse_args()
    options.packages.mkdir(parents=True, exist_ok=True)
    rows = [Package(**row) for row in read_rows(options.tables / "packages.tsv")]
    packages = download(rows, options.packages)
    splits = split_pairs(read_pairs(packages, options.tables))
    options.folder.mkdir(parents=True, exist_ok=True)
    for split, pairs in splits.items():
        write_lines(options.folder / f"{split}.en", [pair.english for pair in pairs])
        write_lines(options.folder / f"{split}.de", [pair.german for pair in pairs])
    sizes = ", ".join(f"{len(pairs):,} pairs in {split}" for split, pairs in splits.items())
    print(f"{options.folder}: {sizes}")


if __name__ == "__main__":
    main()

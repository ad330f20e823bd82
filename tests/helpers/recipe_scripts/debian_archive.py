"""A Debian archive in miniature: packages that dpkg-deb builds, and the lists that apt-get asks for."""

import hashlib
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path


def catalogue(entries: Mapping[str, str]) -> bytes:
    """Return a .mo file in the layout of gettext's manual: a header, two tables of lengths and offsets, the strings."""
    sides = [[text.encode() for text in side] for side in (entries.keys(), entries.values())]
    start, tables, strings = 28 + 16 * len(entries), b"", b""
    for side in sides:
        for text in side:
            tables += struct.pack("<2I", len(text), start + len(strings))
            strings += text + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, 0) + tables + strings


def build_package(folder: Path, name: str, files: Mapping[str, bytes]) -> Path:
    """Build version 1:1.0; a content that begins with -> is a link."""
    root, package = folder / name, folder / "pool" / f"{name}.deb"
    for path, content in {"DEBIAN/control": control(name).encode(), **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if content.startswith(b"->"):
            (root / path).symlink_to(content[2:].decode())
        else:
            (root / path).write_bytes(content)
    package.parent.mkdir(exist_ok=True)
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", root, package], check=True, capture_output=True)  # noqa: S607
    return package


def control(name: str) -> str:
    return (
        f"Package: {name}\nVersion: 1:1.0\nArchitecture: all\nMaintainer: nobody <n@example.org>\nDescription: {name}\n"
    )


def write_archive(folder: Path, packages: list[Path], descriptions: Mapping[str, str]) -> Path:
    """Write the index of an archive, and return the configuration that leads apt-get to it alone."""
    release = folder / "dists" / "bookworm"
    entries = [
        f"{control(file.stem)}Filename: pool/{file.name}\nSize: {file.stat().st_size}\nSHA256: {sha256(file)}\n"
        for file in packages
    ]
    lists = {"main/binary-amd64/Packages": "\n".join(entries)}
    lists |= {f"main/i18n/Translation-{language}": text for language, text in descriptions.items()}
    for path, text in lists.items():
        (release / path).parent.mkdir(parents=True, exist_ok=True)
        (release / path).write_text(text)
    sums = [f" {sha256(release / path)} {(release / path).stat().st_size} {path}\n" for path in lists]
    head = "Codename: bookworm\nComponents: main\nArchitectures: amd64\nDate: Sat, 10 Jun 2023 08:00:00 UTC\nSHA256:\n"
    (release / "Release").write_text(head + "".join(sums))
    (folder / "sources.list").write_text(f"deb [trusted=yes] file:{folder} bookworm main\n")
    (folder / "status").touch()
    settings = {"Dir::Etc::sourcelist": folder / "sources.list", "Dir::State::status": folder / "status"}
    settings["Dir::Etc::sourceparts"] = folder / "none"
    (folder / "apt.conf").write_text("".join(f'{name} "{value}";\n' for name, value in settings.items()))
    return folder / "apt.conf"


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()

"""Debian's packages by their own client: named versions, checked by SHA-256, and the files inside them."""

import csv
import hashlib
import posixpath
import re
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

APT_GET, DPKG_DEB = "/usr/bin/apt-get", "/usr/bin/dpkg-deb"
DESCRIPTIONS = "Translation-"  # files of apt's lists: the descriptions of all packages in a language
REMEDY = "this recipe needs Debian 12, or a container of it, with the package sources main and security"


class Package(NamedTuple):
    """A row of packages.tsv: a package, or the descriptions of all packages in a language."""

    name: str
    version: str
    sha256: str
    licence: str

    def find(self, folder: Path) -> Path | None:
        """Return its file in a folder; refuse another content than the table's."""
        version = self.version.replace(":", "%3a")
        of_lists = self.name.startswith(DESCRIPTIONS)
        pattern = f"lists/*_bookworm_main_i18n_{self.name}" if of_lists else f"{self.name}_{version}_*.deb"
        file = next(folder.glob(pattern), None)
        if file and hashlib.sha256(file.read_bytes()).hexdigest() != self.sha256:
            raise SystemExit(f"{file}: not the SHA-256 of {self.version} in packages.tsv: put that version there")
        return file


def read_rows(table: Path) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def download(packages: list[Package], folder: Path) -> dict[str, Path]:
    """Download what the folder lacks, and return each package's file."""
    if not (Path(APT_GET).exists() and Path(DPKG_DEB).exists()):
        raise SystemExit(f"no {APT_GET} or {DPKG_DEB}: {REMEDY}")
    if absent := [package for package in packages if not package.find(folder)]:
        (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        apt_get(folder, "update")
        if debs := [f"{each.name}={each.version}" for each in absent if not each.name.startswith(DESCRIPTIONS)]:
            apt_get(folder, "download", *debs)
    files = {package.name: file for package in packages if (file := package.find(folder))}
    if missing := [package.name for package in packages if package.name not in files]:
        raise SystemExit(f"{folder} still lacks {', '.join(missing)}: {REMEDY}, by the name bookworm")
    return files


def apt_get(folder: Path, *argv: str) -> None:
    """Run apt-get with package lists of its own, for amd64 on any machine; its errors end the recipe."""
    lists = folder.resolve() / "lists"
    settings = [f"Dir::State::lists={lists}", f"Dir::Cache={lists}", "APT::Architecture=amd64"]
    settings += ["Acquire::Languages=en,de", "Acquire::GzipIndexes=false", "APT::Sandbox::User=root"]
    options = [word for setting in settings for word in ("-o", setting)]
    done = subprocess.run([APT_GET, *options, *argv], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        error = (re.findall(r"^E: (.*)", done.stderr, re.MULTILINE) or ["it was stopped"])[0]
        raise SystemExit(f"apt-get {argv[0]}: {error}; {REMEDY}; put a .deb that they no longer hold into {folder}")


def read_files(package: Path, paths: re.Pattern[str]) -> dict[str, bytes]:
    """Return the contents of the files whose paths match; a link has its target's content."""
    contents: dict[str, bytes] = {}
    links: dict[str, str] = {}
    with (
        subprocess.Popen([DPKG_DEB, "--fsys-tarfile", package], stdout=subprocess.PIPE) as process,
        tarfile.open(fileobj=process.stdout, mode="r|") as archive,
    ):
        for member in archive:
            path = member.name.removeprefix("./")
            if paths.search(path) and member.issym():
                links[path] = posixpath.normpath(posixpath.join(posixpath.dirname(path), member.linkname))
            elif paths.search(path) and (file := archive.extractfile(member) if member.isreg() else None):
                contents[path] = file.read()
    return contents | {path: contents[target] for path, target in links.items() if target in contents}

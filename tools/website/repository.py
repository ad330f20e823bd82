"""Source of the site: the repository's own pages, and a reference of its Python interface.

mkdocs calls the functions by their names. A page keeps its path in the repository, so that its links hold in both.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = "realformer_nmt"
PAGES = ("*.md", "LICENSE", "docs/**/*", "recipes/*/*.md", "recipes/*/*.toml", "recipes/*/*.ipynb", "recipes/*/*.png")
SOURCE = re.compile(rf"\]\([./]*({PACKAGE}/[\w/]+)\.py\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")  # as GitHub makes anchors
    config.nav.append({"Python": [reference(room) for room in rooms()]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    paths = {path for pattern in PAGES for path in REPOSITORY.glob(pattern) if path.is_file()}
    for path in sorted(path for path in paths if path.suffix != ".pyc"):
        source = str(path.relative_to(REPOSITORY).as_posix())
        files.append(File.generated(config, source, abs_src_path=str(path)))
    for room in rooms():
        files.append(File.generated(config, reference(room), content=described(room)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """A link to a module's file leads to the reference of that module."""
    here = PurePosixPath(page.file.src_uri).parent

    def documented(link: re.Match[str]) -> str:
        module = link[1].removesuffix("/__init__").replace("/", ".")
        target = os.path.relpath(reference(".".join(module.split(".")[:2])), here)
        return f"]({target}#{module})"

    return SOURCE.sub(documented, markdown)


def reference(room: str) -> str:
    """The page of a room."""
    return f"python/{room.removeprefix(PACKAGE).removeprefix('.') or PACKAGE}.md"


def described(room: str) -> str:
    directives = "\n\n".join(f"::: {module}" for module in modules(room))
    return f"# {room}\n\n{directives}\n"


def rooms() -> list[str]:
    """The package itself and its folders."""
    folders = sorted(path.parent.name for path in (REPOSITORY / PACKAGE).glob("*/__init__.py"))
    return [PACKAGE, *(f"{PACKAGE}.{folder}" for folder in folders)]


def modules(room: str) -> Iterator[str]:
    """Yield the modules with a public name, sorted by name, the room first."""
    folder = REPOSITORY / room.replace(".", "/")
    paths = folder.glob("*.py") if room == PACKAGE else folder.rglob("*.py")
    names = (".".join(path.relative_to(REPOSITORY).with_suffix("").parts) for path in paths)
    yield from sorted(name.removesuffix(".__init__") for name in names if not name.endswith("__main__"))

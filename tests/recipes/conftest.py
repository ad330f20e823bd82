"""Both recipes' archives in miniature on a server of 127.0.0.1, and an undisturbed run of each."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from recipe_scripts.recipe import forked, path_with_program, script
from recipe_scripts.recipe_runs import run
from texts.archive_server import ArchiveServer
from texts.miniature import miniature

from realformer_nmt.corpora.manifest import load

SETTINGS = {  # fewer merges, and a validation pair of every 20 instead of every 1,333
    "wmt14_en_de": "[protocol]\nbpe = 150\n",
    "wmt14_en_fr": "[protocol]\nbpe = 150\n[held_out]\nevery = 20\n",
}


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Manifests with the server's URLs."""
    site = tmp_path_factory.mktemp("site")
    with ArchiveServer(site) as server:
        yield {
            name: miniature(load(name), site, server.url, settings=settings).manifest
            for name, settings in SETTINGS.items()
        }


@pytest.fixture(scope="session")
def program_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """PATH with a program that runs in forks, for what runs to its end."""
    return path_with_program(tmp_path_factory.mktemp("forked"), forked())


@pytest.fixture(scope="session")
def scored(served: dict[str, Path], program_path: str, once: Callable[..., Path]) -> Callable[[str], Path]:
    """scored("wmt14_en_de") -> the folder of a run of the recipe, from nothing to run.json."""

    def scored_run(name: str) -> Path:
        def build(folder: Path) -> None:
            done = run(script(name, served[name], folder), program_path)
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

        return once(f"recipe_{name}", build)

    return scored_run

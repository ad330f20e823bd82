"""Run the authors' code of each family on the same weights, and record its outputs: `make authors-code`.

Each family is a file of families/: where the code is, and how it is run. The suite compares the records with what ours
computes, tests/helpers/same_weights/families.py. A checkout that is already there is used as it is; a family whose code
cannot run here keeps its record.
"""

import ast
import importlib
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from same_weights.draws import Outputs

FAMILIES = sorted(file.stem for file in (Path(__file__).parent / "families").glob("[a-z]*.py"))


class Source(NamedTuple):
    """File of a commit of a repository on GitHub."""

    repository: str
    commit: str
    file: str

    def checkout(self, folder: Path) -> Path:
        """Return the folder of the repository, cloned unless it is there."""
        place = folder / self.repository.rpartition("/")[2]
        if not place.exists():
            partial = place.with_name(f"{place.name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            git = [str(shutil.which("git")), "-C", str(partial)]
            subprocess.run([*git, "init", "--quiet"], check=True)
            url = f"https://github.com/{self.repository}"
            subprocess.run([*git, "fetch", "--quiet", "--depth", "1", url, self.commit], check=True)
            subprocess.run([*git, "checkout", "--quiet", "FETCH_HEAD"], check=True)
            partial.rename(place)
        return place


def load(file: Path, name: str = "authors_file") -> ModuleType:
    """Import a file, under a name that hides no installed module."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class StandIn:
    """Return the first argument: what code imports and does not use here, as a function, decorator or base class."""

    def __new__(cls, value: Any = None, *_others: object, **_options: object) -> Any:
        return value


def stand_in(module: str, *contents: str) -> ModuleType:
    """Put an empty module in the place of one that is not installed."""
    packages = module.split(".")
    names = [".".join(packages[:end]) for end in range(1, len(packages) + 1)]
    for name in names:
        sys.modules.setdefault(name, ModuleType(name))
    vars(sys.modules[module]).update(dict.fromkeys(contents, StandIn))
    return sys.modules[module]


def stand_in_imports(file: Path, *packages: str) -> None:
    """Put stand-ins in the place of all that a file imports from packages that are not installed."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] in packages:
            stand_in(str(node.module), *(alias.name for alias in node.names))


def record(family: str, checkouts: Path, records: Path) -> None:
    module = importlib.import_module(f"authors_code.families.{family}")
    outputs: Outputs = module.run_code(module.SOURCE.checkout(checkouts))
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in module.SOURCE._asdict().items()]
    rows = [f"  {json.dumps(name)}: {json.dumps(_rounded(output.tolist()))}" for name, output in outputs.items()]
    text = ",\n".join([*lines, ' "outputs": {\n' + ",\n".join(rows) + "\n }"])
    (records / f"{family}.json").write_text("{\n" + text + "\n}\n")


def _rounded(values: object) -> object:
    return [_rounded(value) for value in values] if isinstance(values, list) else float(f"{values:.8g}")


def main(checkouts: Path, records: Path, families: list[str]) -> int:
    """Record each family in a process of its own, as what their code imports and changes is for all of a process."""
    if len(families) == 1:
        record(families[0], checkouts, records)
        return 0
    ended = {
        family: subprocess.run([sys.executable, __file__, str(checkouts), str(records), family]).returncode
        for family in families or FAMILIES
    }
    failed = [family for family, code in ended.items() if code]
    print(f"recorded {len(ended) - len(failed)} families" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]))

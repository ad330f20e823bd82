"""A module imports only from its own room and from rooms on lower floors, and no two modules import each other."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from programs.program import REPOSITORY

PACKAGE = REPOSITORY / "realformer_nmt"
FLOORS = (  # from the ground up; what stands beside the rooms is a room of its own
    ("common",),
    ("subcommands", "tasks", "fairseq_options", "kernels", "data_bins", "figures"),
    ("model",),
    ("training", "checkpoints", "single_stack"),
    ("questions",),
    ("fairseq_patches",),
    ("plugin", "corpora"),
    ("evaluation", "protocols"),
    ("analysis",),
    ("serving",),
    ("comparison", "exporting"),
    ("cli", "python_api"),
    ("__init__",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS, 1) for room in rooms}
APART = ("end_to_end", "recipes", "reliability", "documents")


def name(file: Path) -> str:
    words = file.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


MODULES = {name(file): file for file in PACKAGE.rglob("*.py")}


def imports(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & MODULES.keys()
            yield from inner or {node.module}


def room(module: str) -> str:
    return [*module.split(".")[1:], "__init__"][0]


ARROWS = [(module, other) for module in sorted(MODULES) for other in imports(module)]


def test_no_arrow_runs_up() -> None:
    assert {room(module) for module in MODULES} == FLOOR.keys()
    up = [
        arrow for arrow in ARROWS if room(arrow[0]) != room(arrow[1]) and FLOOR[room(arrow[1])] >= FLOOR[room(arrow[0])]
    ]
    assert up == []


def test_no_arrows_run_in_a_circle() -> None:
    graph = TopologicalSorter({module: [other for this, other in ARROWS if this == module] for module in MODULES})
    assert len(list(graph.static_order())) == len(MODULES)  # a circle is a CycleError, which names it


def test_the_page_has_each_room_on_its_floor() -> None:
    page = (REPOSITORY / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| (\d+) \| ((?:`[\w/.]+`(?:, )?)+) \|", page, re.MULTILINE)
    floors = {place: int(floor) for floor, places in rows for place in re.findall(r"`([\w/.]+)`", places)}
    assert {place.removesuffix(".py").strip("/").replace("/", "."): floor for place, floor in floors.items()} == FLOOR


def inner_room(module: str) -> str:
    """Return the folder of a module, or nothing for a file beside the folders of its room."""
    folder = MODULES[module].parent.relative_to(PACKAGE)
    return str(folder) if len(folder.parts) > 1 else ""


def test_rooms_within_a_room_run_in_no_circle() -> None:
    """Modules beside these rooms, as the command that they are of, may use each."""
    rooms = {(inner_room(module), inner_room(other)) for module, other in ARROWS if room(module) == room(other)}
    arrows = {(here, there) for here, there in rooms if here and there and here != there}
    graph = TopologicalSorter({here: [other for this, other in arrows if this == here] for here, _ in arrows})
    assert {*graph.static_order()} >= {"comparison/grid", "comparison/report", "common/requests", "model/attention"}


def test_a_test_stands_where_its_module_stands() -> None:
    """Tests of whole commands, which are of no module, stand apart."""
    tests = [file.relative_to(REPOSITORY / "tests") for file in (REPOSITORY / "tests").rglob("test_*.py")]
    for test in (file for file in tests if file.parts[0] not in APART):
        homes = {Path(*module.split(".")[1:-1]) for module in MODULES if module.endswith(f".{test.stem[5:]}")}
        assert not homes or test.parent in homes, f"{test} is to stand in one of {sorted(map(str, homes))}"

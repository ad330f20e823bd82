"""The rooms stand on floors: a module imports from its own room and from floors below, and no two import each other."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from programs.program import REPOSITORY

PACKAGE = REPOSITORY / "realformer_nmt"
FLOORS = (  # from the ground up; what stands beside the rooms is a room of its own
    ("__init__",),
    ("common",),
    ("subcommands", "tasks", "kernels", "data_bins", "figures", "synthetic"),
    ("model",),
    ("training", "checkpoints", "text_models.models"),
    ("text_models.questions",),
    ("fairseq_patches",),
    ("plugin", "corpora"),
    ("evaluation", "protocols"),
    ("text_models.evaluation",),
    ("analysis",),
    ("text_models.analysis", "serving"),
    ("comparison", "exporting"),
    ("text_models.grid_scoring", "cli", "python_api"),
)
WING = "text_models"  # models of one side: a wing with rooms on several floors, which others know by their names alone
WING_DOORS = {"plugin": ("models", "questions"), "comparison": ("evaluation",)}  # by room; for a command's request
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
APART = ("end_to_end", "recipes", "reliability", "documents")
DOORS = (  # of the package itself: it registers where fairseq is there, offers `load` and the commands, imports late
    ("realformer_nmt", "realformer_nmt.common.late_imports"),
    ("realformer_nmt", "realformer_nmt.python_api"),
    ("realformer_nmt", "realformer_nmt.plugin"),
    ("realformer_nmt", "realformer_nmt.serving.translator"),
)


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
    first, *inner = [*module.split(".")[1:], "__init__"]
    return f"{WING}.{inner[0]}" if first == WING and inner[0] != "__init__" else first


ARROWS = [(module, other) for module in sorted(MODULES) for other in imports(module) if (module, other) not in DOORS]


def test_no_arrow_runs_up() -> None:
    assert {room(module) for module in MODULES} - {WING} == FLOOR.keys()
    up = [
        arrow for arrow in ARROWS if room(arrow[0]) != room(arrow[1]) and FLOOR[room(arrow[1])] >= FLOOR[room(arrow[0])]
    ]
    assert up == []


def test_who_translates_never_enters_the_wing() -> None:
    entered = {(room(here), room(there)) for here, there in ARROWS if WING in room(there) and WING not in room(here)}
    assert entered == {(here, f"{WING}.{inner}") for here, rooms in WING_DOORS.items() for inner in rooms}


def test_no_arrows_run_in_a_circle() -> None:
    graph = TopologicalSorter({module: [other for this, other in ARROWS if this == module] for module in MODULES})
    assert len(list(graph.static_order())) == len(MODULES)  # a circle is a CycleError, which names it


def test_the_page_has_each_room_on_its_floor() -> None:
    page = (REPOSITORY / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| (\d+) \| ((?:`[\w/.]+`(?:, )?)+) \|", page, re.MULTILINE)
    floors = {place: int(floor) for floor, places in rows for place in re.findall(r"`([\w/.]+)`", places)}
    assert {place.removesuffix(".py").strip("/").replace("/", "."): floor for place, floor in floors.items()} == {
        name: floor for name, floor in FLOOR.items() if name != "__init__"
    }


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

"""One name, one thing: no two public classes of the four rooms share a name."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("mha", "probes", "reports", "experiments")

STAND = ("Estimate", "HeadSet", "PageSection")
"Names that still stand for two things."


def public_classes(source: str) -> list[str]:
    """Return the classes that a module defines, those inside others too, but for those that begin with a line."""
    names = [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]
    return [name for name in names if not name.startswith("_")]


def shared_names() -> dict[str, list[str]]:
    """Return name -> the files that define a class of it, where there are several."""
    files: dict[str, list[str]] = defaultdict(list)
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        for name in public_classes(path.read_text("utf-8")):
            files[name].append(str(path.relative_to(ROOT)))
    return {name: where for name, where in files.items() if len(where) > 1}


def test_a_class_is_found_wherever_it_stands() -> None:
    source = "class One:\n    class Two: ...\ndef late():\n    class _Three: ...\n    class Four: ..."
    assert sorted(public_classes(source)) == ["Four", "One", "Two"]


def test_no_two_public_classes_share_a_name() -> None:
    assert {name: where for name, where in shared_names().items() if name not in STAND} == {}


def test_every_name_that_still_stands_for_two_things_does() -> None:
    assert [name for name in STAND if name not in shared_names()] == []

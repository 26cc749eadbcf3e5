"""One name, one thing: no two public classes of the four rooms share a name; and names are in the field's terms."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("mha", "probes", "reports", "experiments", "headscope")


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


def test_no_two_public_classes_share_a_name() -> None:
    assert shared_names() == {}


RETIRED = {
    *("told", "tell", "tells", "said", "say", "says", "asked", "found", "chosen", "look", "looks", "sure", "surely"),
    *("rival", "rivals", "fresh"),
}
"Words that say nothing to a newcomer: a name says what the thing is (rows, text, baseline, selected, significant)."

KEPT = {
    "experiments/commands/studies.py: fresh": "an option of the command line: measured from scratch",
    "experiments/config/train_config.py: fresh": "a key of configs",
    "experiments/reproduce/readings.py: fresh": "measured from scratch, as the option says",
    "experiments/reproduce/reproduce.py: fresh": "measured from scratch, as the option says",
}
"File and name -> why it stays."


def words_of(name: str) -> set[str]:
    """Return the words of a name, in small letters."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def public_names(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that others can use: functions and their parameters, classes and their attributes, constants."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_") or node.name in ("__init__", "__call__"):
                every = node.args
                named = [*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg]
                yield from (node.name, *(given.arg for given in named if given is not None))
        elif isinstance(node, ast.ClassDef):
            if not node.name.startswith("_"):
                yield node.name
                yield from public_names(node.body)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            yield from (name for name in names if not name.startswith("_"))


def retired_names() -> list[str]:
    """Return "file: name" for every public name with a retired word, and every such module."""
    places = []
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        names = [path.stem, *public_names(ast.parse(path.read_text("utf-8")).body)]
        wrong = dict.fromkeys(name for name in names if words_of(name) & RETIRED)
        places += [f"{path.relative_to(ROOT).as_posix()}: {name}" for name in wrong]
    return places


def test_public_names_are_in_the_terms_of_the_field() -> None:
    assert retired_names() == sorted(KEPT)

"""Change one thing in a module, and see whether its tests notice: `make mutants`.

    python -m tests.hardness.mutants --each 100 --areas statistics
    python -m tests.hardness.mutants --again

The operators are those of mutmut; its runner passes dataclasses over, so mutants are run here: each in a fork in which
the libraries are loaded already, by the tests of its module first and then by those of its area. Annotations,
docstrings, decorators, what is raised and whether zip is strict are left alone. `--again` tries what survived before.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from random import Random
from types import CodeType
from typing import Any

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

from tests.hardness.record import RECORD, here, read, write

ROOT = Path(__file__).parents[2]
PART = "mutants"

MHA = ["tests/mha/causal", "tests/mha/reading", "tests/mha/encoder", "tests/mha/models"]

AREAS = {
    "attention": (
        ["mha/attention.py", "mha/projections.py"],
        [*MHA, "tests/mha/test_hooks.py", "tests/mha/test_own_attention.py"],
    ),
    "hooks": (
        ["mha/hooks.py", "mha/watches.py", "mha/own_attention.py", "mha/reading/attention_blocks.py"],
        ["tests/mha/test_hooks.py", "tests/mha/test_own_attention.py", *MHA],
    ),
    "alignment": (["mha/pieces.py", "probes/scoring/aligned.py"], ["tests/probes/scoring"]),
    "scoring": (["probes/scoring/*.py"], ["tests/probes/scoring", "tests/probes/chemistry"]),
    "statistics": (["probes/evidence/*.py"], ["tests/probes/evidence"]),
    "readers": (["probes/corpora/*.py"], ["tests/probes/corpora"]),
}
"Modules of an area, and the tests that run after those named like the module."

STRICT = re.compile(r"(, )?strict=\w+")
"An assertion of zip, which changes nothing where tests pass."

LIBRARIES = ("conllu", "datasets", "hypothesis", "matplotlib", "pandas", "scipy.stats", "sklearn", "transformers")
PYTEST = ("-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist")
PYTEST += ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # hypothesis is loaded already
MEMORY = 8 << 30
"Bytes of address space of a fork."


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    path: Path
    place: str
    "Line and column."
    before: str
    after: str
    code: str
    "The whole module."

    @property
    def name(self) -> str:
        """Where it is, and what changed."""
        return f"{self.path.relative_to(ROOT)}:{self.place} {self.before} → {self.after}"


class Changes(cst.CSTVisitor):
    """Collects what may be changed in the functions of a module."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[cst.CSTNode, cst.CSTNode, str]] = []
        self.functions = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Apply every operator to a node in a function."""
        if isinstance(node, cst.Annotation | cst.Decorator | cst.Raise | cst.Param) or is_docstring(node):
            return False
        if isinstance(node, cst.Arg) and node.keyword and node.keyword.value == "strict":
            return False
        self.functions += isinstance(node, cst.FunctionDef)
        if self.functions:
            start = self.get_metadata(PositionProvider, node).start
            changed = [one for kind, operator in mutation_operators if isinstance(node, kind) for one in operator(node)]
            self.found += [
                (node, one, f"{start.line}:{start.column}")
                for one in changed
                if STRICT.sub("", text(one)) != STRICT.sub("", text(node))
            ]
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        """Count the functions around a node."""
        self.functions -= isinstance(original_node, cst.FunctionDef)


def text(node: cst.CSTNode) -> str:
    """Return the code of a node on one line."""
    return " ".join(cst.Module([]).code_for_node(node).split())


def is_docstring(node: cst.CSTNode) -> bool:
    """Whether a node is a string that nobody uses."""
    return isinstance(node, cst.Expr) and isinstance(node.value, cst.SimpleString | cst.ConcatenatedString)


def changes(paths: Sequence[Path], seed: int) -> list[Callable[[], Mutant]]:
    """Return what makes the mutants of modules, in a random order."""
    found = []
    for path in paths:
        wrapper = MetadataWrapper(cst.parse_module(path.read_text("utf-8")))
        seen = Changes()
        wrapper.visit(seen)
        found += [partial(mutant, path, wrapper.module, *change) for change in seen.found]
    Random(seed).shuffle(found)
    return found


def mutant(path: Path, module: cst.Module, node: cst.CSTNode, changed: cst.CSTNode, place: str) -> Mutant:
    """Change one node of a module."""
    after = module.with_changes(body=module.deep_replace(node, changed).body)
    return Mutant(path, place, text(node), text(changed), after.code)


def tests_of(mutant: Mutant, area: str) -> list[str]:
    """Return the test files of a mutant, those named like its module first."""
    place = mutant.path.relative_to(ROOT)
    own = ROOT / "tests" / place.parent / f"test_{place.stem}.py"
    return [*([str(own)] if own.is_file() else []), *(str(ROOT / folder) for folder in AREAS[area][1])]


def mutated(mutant: Mutant) -> None:
    """Load the module of this mutant with its change from now on."""
    loaded = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        if Path(self.path) != mutant.path:
            return loaded(self, fullname)
        code: CodeType = self.source_to_code(mutant.code.encode(), self.path)
        return code

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def survives(mutant: Mutant | None, tests: Sequence[str], limit: float) -> bool:
    """Whether all tests pass with a mutant, or without any, within so many seconds."""
    child = os.fork()
    if not child:
        import resource  # where there are forks, there is this

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(quiet, stream)
        if mutant:
            mutated(mutant)
        os._exit(pytest.main([*PYTEST, *tests]))
    until = time.monotonic() + limit
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            if code == pytest.ExitCode.NO_TESTS_COLLECTED or code == pytest.ExitCode.USAGE_ERROR:
                raise RuntimeError(f"no tests in {tests}")
            return code == 0
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def try_area(area: str, each: int, seed: int, workers: int, again: Sequence[str] | None) -> dict[str, Any]:
    """Try so many mutants of an area, of these only those of `again` if it is given; return which survived."""
    paths = sorted({path for pattern in AREAS[area][0] for path in ROOT.glob(pattern)})
    drawn = changes(paths, seed)
    chosen = [make() for make in drawn[:each]]
    if again is not None:
        chosen = [one for one in chosen if one.name in again]
    begun = time.monotonic()
    if not survives(None, [str(ROOT / folder) for folder in AREAS[area][1]], 600):
        raise RuntimeError(f"the tests of {area} fail without any mutant")
    limit = 60 + 4 * (time.monotonic() - begun)
    with ThreadPoolExecutor(workers) as pool:
        alive = [*pool.map(lambda one: survives(one, tests_of(one, area), limit), chosen)]
    left = [one.name for one, lives in zip(chosen, alive, strict=True) if lives]
    return {"mutants": len(drawn), "tried": len(chosen), "seed": seed, "survived": left}


def main() -> None:
    """Try mutants, and put what came of them into the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--areas", nargs="*", default=[*AREAS], choices=[*AREAS])
    parser.add_argument("--each", type=int, default=60, help="mutants of each area (default 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1, help="forks at a time")
    parser.add_argument("--again", action="store_true", help="try only what survived by the record")
    parser.add_argument("--record", type=Path, default=RECORD, help="where it is written down")
    options = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    os.environ.pop("HEADSCOPE_DATA", None)
    sys.dont_write_bytecode = True
    for library in LIBRARIES:
        importlib.import_module(library)
    for area in options.areas:
        part = read(options.record).get(PART, {"command": "make mutants", "areas": {}})
        before = part["areas"].get(area, {"survived": [], "survived_at_first": 0})
        again = before["survived"] if options.again else None
        found = try_area(area, options.each, options.seed, options.workers, again)
        first = before["survived_at_first"] if options.again else len(found["survived"])
        part["areas"][area] = (before if options.again else found) | {
            "survived": found["survived"],
            "survived_at_first": first,
        }
        print(area, json.dumps(part["areas"][area], indent=1), flush=True)
        write(PART, part, options.record)
    write(PART, read(options.record)[PART] | {"made_on": here()}, options.record)  # which loads what was mutated


if __name__ == "__main__":
    main()

"""Finds retired phrases in what users read: pages, docs, help, messages and public docstrings.

`python docs/retired.py` prints every one with its place and what to write; it exits with 1 where there is any.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]

INSTEAD: Final = {
    "told on": "evaluated on (held out)",
    "chosen on": "selected on",
    "fresh weights": "randomly initialised weights",
    "(?:even attention|times even)": "uniform attention",
    "shuffled (?:weights|models?)": "permuted weights",
    "shuffles": "permutations",
    "shuffled words": "shuffled word order",
    "random right answers": "control arcs, or permuted gold",
    "right answers": "gold",
    "surely": "significantly (adjusted p < 0.05)",
    "how sure": "uncertainty",
    "rivals?": "baseline",
    "simple guess": "baseline",
    "held against": "compared with",
    "switched off": "ablated",
    "taken away": "ablated",
    "heads at work": "examples",
    r"in short(?! ?\w)": "summary",
    "scored and dropped": "coverage of the data",
    "what the numbers mean": "glossary",
    "methods in words": "methods",
    "heads as a set": "relations between heads",
    "shape of (?:its )?maps": "attention statistics",
    "looks? from": "attend from",
    "heads? looks? at": "attend to",
    "do(?:es)? (?:they|it) matter": "causal effect",
}
"Retired phrase, as a pattern -> what to write instead."


def _apart(phrase: str) -> str:
    """Return the pattern of a phrase that may go on in the next line."""
    return phrase.replace(" ", r"\s+")


PATTERN: Final = re.compile("|".join(rf"\b{_apart(phrase)}(?!\w)" for phrase in INSTEAD), re.IGNORECASE)

CODE: Final = re.compile(
    r"```.*?```|^    [^\n]*$|`[^`]*`|\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|<[^>]*>", re.DOTALL | re.MULTILINE
)
"What is code in Markdown, and in templates."

ROOMS: Final = ("mha", "probes", "reports", "experiments")

KEPT: Final = {
    "probes/scoring/hashed_random.py": "seed of draws",
    "probes/words/sense.py": "names of labels in tables",
    "probes/words/senses.py": "names of fields in templates",
    "reports/scores/plain_names.py": "names of labels in tables",
    "reports/tables/scores.py": "names of controls in tables of before",
    "reports/sandbox/record.py": "names of nulls in records",
    "experiments/sandbox/nulls.py": "names of nulls in records",
}
"Files that hold a retired phrase as the key of a stored table."

OLDER: Final = ("reactions",)
"Published pages that were made before the words changed, until they are made anew."


def retired_phrases(root: Path = ROOT) -> list[str]:
    """Return every retired phrase that users of the tree in `root` read, as "file:line: phrase (write: ...)"."""
    return [f"{path}:{line}: {phrase} (write: {_instead(phrase)})" for path, line, phrase in _all(root)]


def _all(root: Path) -> Iterator[tuple[str, int, str]]:
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").glob("*.md")]
    published = (root / "reports" / "published").glob("*/report.md")
    pages += (path for path in published if path.parent.name not in OLDER)
    for path in sorted(path for path in (*pages, *(root / "reports").rglob("*.j2")) if path.exists()):
        yield from ((_named(path, root), *place) for place in _places(path.read_text(encoding="utf-8")))
    for path in sorted(path for room in ROOMS for path in (root / room).rglob("*.py")):
        name = _named(path, root)
        if name not in KEPT:
            yield from ((name, *place) for place in _of_code(path))


def _places(text: str, first: int = 1) -> Iterator[tuple[int, str]]:
    plain = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    for hit in PATTERN.finditer(plain):
        if not hit[0].isupper():  # the name of a constant
            yield first + text.count("\n", 0, hit.start()), " ".join(hit[0].split())


def _of_code(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the phrases in the texts of a module: constants of several words, and docstrings of what is public."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    private = {id(one) for node in ast.walk(tree) for one in _private(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in private:
            continue
        if isinstance(node.value, str) and " " in node.value:
            yield from _places(inspect.cleandoc(node.value), node.lineno)


def _private(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield what no user reads: docstrings of private names, and notes on attributes."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return
    hidden = not isinstance(node, ast.Module) and node.name.startswith("_")
    for place, statement in enumerate(node.body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and (place or hidden):
            yield statement.value


def _instead(phrase: str) -> str:
    return next(instead for pattern, instead in INSTEAD.items() if re.fullmatch(pattern, phrase, re.IGNORECASE))


def _named(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


if __name__ == "__main__":
    lines = retired_phrases()
    print("\n".join(lines) or "no retired phrase")
    sys.exit(bool(lines))

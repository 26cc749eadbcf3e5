"""Retired phrases in what users read: none is left, and the check finds one where it is, and says what to write."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
INSTEAD: Final = {
    "told on": "evaluated on (held out)",
    "chosen on": "selected on",
    "fresh weights": "randomly initialised weights",
    "shuffled (?:weights|models?)": "permuted weights",
    "right answers": "gold",
    "surely": "significantly (adjusted p < 0.05)",
    "how sure": "uncertainty",
    "simple guess": "baseline",
    "held against": "compared with",
    "switched off|taken away": "ablated",
    "heads? looks? at|looks? from": "attend to, attend from",
}
"Retired phrase, as a pattern -> what to write instead."
PATTERN: Final = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b".replace(" ", r"\s+"), re.IGNORECASE)
CODE: Final = re.compile(r"```.*?```|^    [^\n]*$|`[^`]*`|\{[{%#].*?[}%#]\}|<[^>]*>", re.DOTALL | re.MULTILINE)
RECORDS: Final = ("reports/statements/sandbox_record.py", "experiments/sandbox/nulls.py")
KEPT: Final = ("CHANGELOG.md", "reports/tables/scores.py", *RECORDS)
"What tells of earlier words, or has one as the key of a stored table."


def retired_phrases(root: Path = ROOT) -> Iterator[str]:
    """Yield every retired phrase of the tree in `root` as "file:line: phrase (write: ...)"."""
    texts = ("*.md", "docs/*.md", "reports/published/*/report.md", "reports/**/*.j2")
    code = (f"{room}/**/*.py" for room in ("mha", "probes", "reports", "experiments", "headscope"))
    for path in sorted({path for pattern in (*texts, *code) for path in root.glob(pattern)}):
        name, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        for line, part in _strings(text) if path.suffix == ".py" else [(1, text)]:
            plain = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), part)
            for hit in PATTERN.finditer(plain) if not name.startswith(KEPT) else ():
                phrase, place = " ".join(hit[0].split()), line + plain[: hit.start()].count("\n")
                yield f"{name}:{place}: {phrase} (write: {_instead(phrase)})"


def _instead(phrase: str) -> str:
    return next(instead for pattern, instead in INSTEAD.items() if re.fullmatch(pattern, phrase, re.IGNORECASE))


def _strings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the strings of several words in a module, and the docstrings of what is public, each with its line."""
    nodes = [*ast.walk(ast.parse(source))]
    notes = {node.value for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value and node not in notes:
            yield node.lineno, node.value
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield from [(node.body[0].lineno, text)] * (not getattr(node, "name", "").startswith("_"))


def test_no_retired_phrase_is_left() -> None:
    assert [*retired_phrases(ROOT)] == []


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("docs/page.md", "# Title\n\nHeads: `surely` is code; they are told\non the other.\n", 3),
        (
            "probes/a.py",
            '"""A."""\n\n\ndef one() -> str:\n    """Return the fresh weights."""\n    return "rival"\n',
            5,
        ),
        ("mha/a.py", 'said = "the head is switched off"\n\n\ndef _one():\n    """Hold fresh weights."""\n', 1),
    ],
)
def test_a_planted_phrase_is_found_with_its_place(tmp_path: Path, path: str, text: str, line: int) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(text, encoding="utf-8")
    (hit,) = retired_phrases(tmp_path)
    assert hit.startswith(f"{path}:{line}: ")

"""No retired phrase is left in what users read, and the check finds one where it is."""

import subprocess
import sys
from pathlib import Path

import pytest

from docs.retired import retired_phrases

ROOT = Path(__file__).parents[2]


def test_no_retired_phrase_is_left() -> None:
    assert retired_phrases(ROOT) == []


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("README.md", "# Title\n\nHeads are selected on one half and told\non the other.\n", 3),
        ("docs/page.md", "In short: `surely` is code.\n", 1),
        ("reports/x/page.html.j2", "<p class='rival'>{{ rival }}</p>\n<p>its strongest rival</p>\n", 2),
        (
            "probes/a.py",
            '"""A module."""\n\n\ndef one() -> str:\n    """Return the fresh weights."""\n    return "rival"\n',
            5,
        ),
        ("mha/a.py", 'said = "the head is switched off"\n', 1),
        ("experiments/findings/a.py", 'claim = "heads surely do"\n', 1),
        ("reports/published/run/report.md", "# A run\n\nA head is surely there.\n", 3),
    ],
)
def test_a_planted_phrase_is_found_with_its_place(tmp_path: Path, path: str, text: str, line: int) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    (hit,) = retired_phrases(tmp_path)
    assert hit.startswith(f"{path}:{line}: ")
    assert "(write: " in hit


def test_private_docstrings_and_other_senses_are_left_alone(tmp_path: Path) -> None:
    for path, text in (
        ("mha/a.py", 'def _one() -> None:\n    """Hold the fresh weights."""\n'),
        ("docs/page.md", "Better in short documents. RIVALS is a constant.\n"),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    assert retired_phrases(tmp_path) == []


def test_the_command_ends_with_an_error_code_only_where_something_is_found() -> None:
    done = subprocess.run([sys.executable, ROOT / "docs" / "retired.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "no retired phrase\n")

"""No retired phrase is left in what users read, and the check finds one where it is."""

from pathlib import Path

import pytest

from docs.retired import ROOT, retired_phrases


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

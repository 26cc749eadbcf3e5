"""docs/inputs.md says what is refused, and with which message: each row is provoked here."""

import re
from pathlib import Path

import pytest

from tests.experiments.inputs.refused import REFUSED

PAGE = Path(__file__).parents[3] / "docs" / "inputs.md"
ROW = re.compile(r"^\| (.+?) \| `(.+)` \|$")


def documented() -> dict[tuple[str, str], str]:
    """Return the message of every row, by section and what is refused."""
    section, found = "", {}
    for line in PAGE.read_text("utf-8").splitlines():
        section = line.removeprefix("## ") if line.startswith("## ") else section
        if row := ROW.fullmatch(line):
            found[section, row[1]] = row[2]
    return found


CASES = {(section, what): provoke for section, rows in REFUSED.items() for what, provoke in rows.items()}


def test_every_row_is_provoked_and_everything_that_is_provoked_has_a_row() -> None:
    assert [*documented()] == [*CASES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: ": ".join(case))
def test_the_message_is_the_one_in_the_docs(case: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises((ValueError, FileNotFoundError)) as caught:
        CASES[case](tmp_path)
    message = str(caught.value).replace(f"{tmp_path}/", "").replace(str(tmp_path), "FOLDER")
    assert re.fullmatch(".*".join(map(re.escape, documented()[case].split("…"))), message), message

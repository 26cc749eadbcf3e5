"""Adding a measure takes one file: in headscope, beside its kernel, or anywhere, named by the key `measures`."""

import re
from pathlib import Path

import pandas as pd
import pytest

from experiments.config.section import ConfigError
from experiments.run.config import load_config
from experiments.run.run import run
from reports import Run
from reports.measures import registry

ROOT = Path(__file__).parents[3]
SOURCE = (".py", ".j2", ".css", ".js", ".toml")
USERS = ("experiments/configs", "experiments/findings", "reports/published")
"What uses measures once they are there."

MINE = '''
"""How many letters a head's name has."""

from typing import ClassVar

from experiments.run.measure import Measure
from reports.blocks.block import TableBlock
from reports.tables.shared_columns import ONE_HEAD, RUN, whole
from reports.tables.table import Table
from reports.tables.text_table import TextTable

LETTERS = Table("One row for each head.", ("name",), (*RUN, *ONE_HEAD, whole("letters", "Letters of its name.")))


class LettersMeasure(Measure):
    """Letters of names."""

    name = "letters"
    title = "Letters of names"
    place = 5
    tables: ClassVar = {"letters": LETTERS}

    times: int = 0
    "How often each is counted; 0 for never."

    def wanted(self, run):
        """Return whether they are counted."""
        return self.times > 0

    def measure(self, run, read):
        """Return a row a head."""
        import pandas as pd
        from probes.evidence.results import named_heads

        rows = pd.DataFrame(named_heads((run.model.layers, run.model.heads)))
        return {"letters": rows.assign(letters=self.times * rows["name"].str.len())}

    @classmethod
    def page(cls, run):
        """Yield the table."""
        if "letters" in run.tables:
            columns = [LETTERS[name].shown() for name in ("name", "letters")]
            yield TableBlock(TextTable.of("Letters", columns, run.tables["letters"].to_dict("records")))
'''


def test_one_file_names_a_measure() -> None:
    rooms = (path for room in ("mha", "probes", "reports", "experiments") for path in (ROOT / room).rglob("*"))
    files = {path: path.relative_to(ROOT).as_posix() for path in rooms if path.suffix in SOURCE}
    naming = {
        file
        for path, file in files.items()
        if not file.startswith(USERS) and re.search(r"(?<!a)drift", file + path.read_text("utf-8"), re.IGNORECASE)
    }
    assert naming == {"experiments/measures/drift.py"}


@pytest.fixture
def mine(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a config beside a file with a measure, which is known until the test ends."""
    monkeypatch.setattr(registry, "_USED", {})
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    config = tmp_path / "mine.toml"
    config.write_text('measures = ["./mine.py"]\n' + base.read_text("utf-8"), encoding="utf-8")
    return config


def test_a_measure_of_a_file_that_the_config_names_is_run_written_and_shown(mine: Path, tmp_path: Path) -> None:
    folder = run(load_config(mine, ["letters.times=2"]), tmp_path / "runs")
    found = Run.open(folder)
    assert found.tables["letters"]["letters"].tolist() == [6] * 4
    assert len(pd.read_csv(folder / "letters.csv")) == 4
    assert "letters" in found.record.stages
    page = (folder / "report" / "index.html").read_text("utf-8")
    assert '<section id="letters" class="wrap">\n<h2>Letters of names</h2>' in page
    assert re.search(r">1-1</t[hd]>\s*<td[^>]*>6<", page)
    again = load_config(folder / "config.toml")
    assert again.letters.times == 2, "the config of the run folder names the file by its whole path"


def test_its_table_is_checked_and_without_the_file_it_is_unknown(mine: Path, base: Path) -> None:
    with pytest.raises(ConfigError, match=r"mine\.toml: letters\.times: expected a whole number"):
        load_config(mine, ["letters.times='often'"])
    with pytest.raises(ConfigError, match=r"mine\.toml: unknown key 'letter'"):
        load_config(mine, ["letter.times=2"])
    registry._USED.clear()
    with pytest.raises(ConfigError, match="unknown key 'letters'"):
        load_config(base, ["letters.times=2"])
    with pytest.raises(ConfigError, match=r"none\.py: no such file; expected a Python file with a measure"):
        load_config(base, ['measures=["none.py"]'])

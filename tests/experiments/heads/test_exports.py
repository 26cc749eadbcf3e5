"""A run in other forms has the numbers that it has."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
from datasets import load_from_disk

from experiments.compare.compare import write_compared
from experiments.heads.exports import ExportError
from headscope import export, open_run
from reports import Run


@pytest.fixture
def run(scored: Callable[..., Run]) -> Run:
    return scored()


def test_a_data_set_has_both_splits_and_a_card(run: Run, tmp_path: Path) -> None:
    folder = export(run.folder, "dataset", tmp_path / "set")
    found = load_from_disk(str(folder))
    assert set(found) == {"select", "report"}
    own = run.scores[run.scores["split"] == "report"]
    assert found["report"].to_pandas()["accuracy"].tolist() == pytest.approx(own["accuracy"].tolist(), nan_ok=True)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith('---\npretty_name: "quick: scores"\ntags:\n- "attention-heads"\n')
    assert f"| report | {len(own):,} |" in card
    assert run.record.corpora["report"].fingerprint in card
    assert all(f"- `{column}`" in card for column in run.scores.columns)
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
    with pytest.raises(ExportError, match="exists; name another"):
        export(run, "dataset", folder)


def test_a_data_set_has_one_file_and_a_schema_that_its_rows_fit(run: Run, tmp_path: Path) -> None:
    folder = export(run, "dataset", tmp_path / "set")
    rows, schema = pd.read_parquet(folder / "scores.parquet"), json.loads((folder / "scores.schema.json").read_text())
    pd.testing.assert_frame_equal(rows.drop(columns="canonical_name"), run.scores)
    jsonschema.validate(json.loads(rows.to_json(orient="records")), schema)
    assert set(rows.loc[rows["label"] == "previous", "canonical_name"]) == {"Previous-Token Head"}
    assert set(load_from_disk(str(folder))["report"].column_names) == set(rows.columns)


def test_the_reader_that_the_documentation_shows_needs_pandas_alone(run: Run, tmp_path: Path) -> None:
    export(run, "dataset", tmp_path / "quickstart-scores")
    page = (Path(__file__).parents[3] / "docs" / "run-folder.md").read_text(encoding="utf-8")
    [reader] = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def read_scores" in block]
    assert len(reader.splitlines()) < 30
    loaded = "import sys; print({'headscope', 'reports', 'experiments', 'datasets', 'torch'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", f"{reader}\n{loaded}"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "Previous-Token Head" in done.stdout
    assert done.stdout.splitlines()[-1] == "set()"
    schema = tmp_path / "quickstart-scores" / "scores.schema.json"
    schema.write_text(schema.read_text().replace('"version": 4', '"version": 5'))
    done = subprocess.run([sys.executable, "-c", reader], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "version 5 of the schema, expected 4" in done.stderr


def test_papers_get_the_best_heads_and_only_those_of_the_probes_that_are_named(run: Run, tmp_path: Path) -> None:
    best = export(run, "latex", tmp_path / "best.tex", probes=["dependency"]).read_text(encoding="utf-8")
    assert best == run.best("dependency").latex()
    both = export(run, "markdown", tmp_path / "best.md", probes=["dependency", "position"]).read_text(encoding="utf-8")
    assert both == run.best().markdown()
    some = export(run, "latex", tmp_path / "some.tex", labels=["previous", "obj"], rows=2).read_text(encoding="utf-8")
    assert some == run.best(label=["previous", "obj"])[:2].latex()
    scores = pd.read_csv(export(run, "csv", tmp_path / "scores.csv", labels=["previous"], rows=3))
    assert scores["label"].tolist() == ["previous"] * 3


def test_the_changes_of_a_comparison_are_exported_for_papers(run: Run, tmp_path: Path) -> None:
    write_compared([str(run.folder), str(run.folder)], tmp_path / "compare")
    text = export(tmp_path / "compare", "markdown", tmp_path / "changes.md").read_text(encoding="utf-8")
    assert text.startswith("**quick (1) → quick (2)**")
    with pytest.raises(ExportError, match="a comparison is exported as latex or markdown; its CSV files lie there"):
        export(tmp_path / "compare", "csv")


@pytest.mark.parametrize(
    ("to", "settings", "message"),
    [
        ("xlsx", {}, "unknown form 'xlsx'; known are csv, parquet, latex, markdown, dataset, pdf, png, svg"),
        ("csv", {"table": "shape"}, "no table 'shape'; there are best, scores"),
        ("csv", {"probes": ["sense"]}, "table 'scores' has no rows of probe 'sense'"),
        ("csv", {"labels": ["nsub"]}, "table 'scores' has no rows of label 'nsub'"),
        ("latex", {"labels": ["previos"]}, r"no label 'previos'; did you mean 'previous'\?"),
        ("latex", {"probes": ["positon"]}, r"no probe 'positon'; did you mean 'position'\?"),
        ("csv", {"out": "own.txt"}, r"own\.txt: a table as csv is a file that ends in \.csv"),
    ],
)
def test_what_a_run_does_not_have_has_results(
    to: str, settings: dict[str, Any], message: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExportError, match=message):
        export(run, to, **settings)
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_beside_the_caller_and_tells_where(
    headscope: Callable[..., Any], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = headscope("export", run.folder, "--to", "latex", "--probe", "position")
    assert (said.code, said.out, said.err) == (0, "written: quick-best.tex\n", "")
    assert (tmp_path / "quick-best.tex").read_text(encoding="utf-8") == open_run(run.folder).best("position").latex()

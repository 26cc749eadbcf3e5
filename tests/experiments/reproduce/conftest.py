"""A reading so small that it takes a second, and a paper with one finding that it answers."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from experiments.reproduce import readings, record, registry, reproduce
from experiments.statements.finding import Evidence, Finding, Measured, Paper, PaperFindings, Published, Statement
from experiments.statements.numbers import margin
from experiments.statements.rule import Rule

READING = """
name = "trees"
corpus.select = { name = "grammar", documents = 6, seed = 1 }
corpus.report = { name = "grammar", documents = 6, seed = 2 }
probes.names = ["dependency"]
scoring.replicates = 10
controls = { random = 0, permuted = 0, orders = 0 }
heads = { texts = 0, relations = 0 }
page.examples = 0
"""

TRAINED = READING.replace('"trees"', '"training"') + "\n[train]\nsteps = 1\n"

PAIRS = READING.replace('"trees"', '"pairs"') + '\n[behaviour]\ncorpora = ["grammar"]\n'


def statement(name: str, **values: object) -> Statement:
    about = {"text": f"A head finds {name}.", "number": "its margin", "rule": Rule(above=-1.1)}
    return Statement(name=name, **about | values)


def arcs(reading: str, label: str, evidence: Evidence) -> Measured:
    return margin(evidence[reading], "dependency", label, "dependent->head")


def finding(name: str, reading: str, *statements: Statement, **values: object) -> Finding:
    about = {"claim": "It is so.", "where": "section 1", "model": "a model", "data": "data", "metric": "accuracy"}
    return Finding(
        id=name,
        statements=[replace(one, measure=partial(arcs, reading, one.name)) for one in statements],
        readings=(reading,),
        **about | values,
    )


OBJ = statement("obj", published=Published(value=0.868, baseline=0.4, text="8-10"))

FINDINGS = (
    finding("some-relations", "trees", OBJ, statement("det"), statement("vocative")),
    finding("some-training", "training", statement("obj")),
    finding("some-pairs", "pairs", statement("obj")),
    Finding("some-missing", "Nobody can say.", "figure 2", "a model", "private data", "x", missing="the private data"),
)


def results(out: Path) -> dict[str, dict[str, Any]]:
    """Return the results of a record by model and finding."""
    kept = json.loads((out / "findings.json").read_text(encoding="utf-8"))
    return {f"{one['model']} {one['finding']}": one for one in kept["results"]}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have one paper and its readings in the place of all others; return where results go."""
    configs = tmp_path / "configs"
    (configs / "findings").mkdir(parents=True)
    for name, text in (("trees", READING), ("training", TRAINED), ("pairs", PAIRS)):
        (configs / "findings" / f"{name}.toml").write_text(text, encoding="utf-8")
    told = (PaperFindings(Paper("some-2020", "Somebody 2020", "A Title"), FINDINGS),)
    monkeypatch.setattr(readings, "CONFIGS", configs)
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, progress: folder)
    for module in (registry, record):
        monkeypatch.setattr(module, "papers", lambda: told)
    assert reproduce.get_reading is readings.get_reading
    return tmp_path / "out"

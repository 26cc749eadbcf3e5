"""Data sets of scores as they are shared: the naming convention of heads, and the card that the hub shows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import pandas as pd

from reports.formats import count, escaped
from reports.measures.registry import meaning
from reports.run.folder import RunFolder
from reports.run.record import CorpusFacts
from reports.scores.glossary import LIMITS, MEANING
from reports.tables.scores import SCORES
from reports.tables.shared_columns import text
from reports.tables.table import VERSION

SOURCE: Final = (
    "Kowalczyk 2025, Attention Head Naming Convention, github.com/KarolFilipKowalczyk/attention-head-taxonomy"
)

CANONICAL: Final[Mapping[tuple[str, str], str]] = {
    ("position", "previous"): "Previous-Token Head",
    ("position", "[SEP]"): "Delimiter Head",
    ("repetition", "same word"): "Duplicate-Token Head",
    ("repetition", "word after"): "Induction Head",
    ("coreference", ""): "Coreference Head",
    ("antecedent", ""): "Pronoun Head",
}
"""Probe, and label or variant (any where it is empty) -> canonical name. Roles without an entry, such as dependency
relations, have no name there."""

EXPORTED_SCORES: Final = replace(
    SCORES,
    columns=(
        *SCORES.columns,
        text("canonical_name", f"Canonical name of the role by {SOURCE}, without its depth; empty where it has none."),
    ),
)
"The scores as they are shared: with canonical names."


def canonical(probe: str, label: str, variant: str) -> str:
    """Return the canonical name of a role; "" where the convention has none.

    >>> canonical("repetition", "content", "word after"), canonical("dependency", "nsubj", "dependent->head")
    ('Induction Head', '')
    """
    return next((CANONICAL[key] for key in ((probe, label), (probe, variant), (probe, "")) if key in CANONICAL), "")


def with_canonical_names(scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores as EXPORTED_SCORES declares them."""
    roles = zip(scores["probe"], scores["label"], scores["variant"], strict=True)
    return scores.assign(canonical_name=[canonical(*role) for role in roles])


def dataset_card(run: RunFolder, table: str, columns: Sequence[str], sizes: Mapping[str, int]) -> str:
    """Return the card of a table of a run, in Markdown; `sizes` are the rows of each split."""
    front = {"pretty_name": f"{run.name}: {table}", "tags": ["attention-heads", "interpretability", "headscope"]}
    about = run.record
    lines = [
        *("---", *yaml_lines(front), "---", ""),
        *(f"# {escaped(run.name)}: {escaped(table)}", ""),
        f"Numbers about the attention heads of {escaped(about.model.title or 'a model')}, made by headscope "
        f"{escaped(about.headscope or '')}. Open them with `datasets.load_from_disk`, or `{table}.parquet` with "
        f"pandas: the same rows in one file, whose columns `{table}.schema.json` declares (JSON Schema, "
        f"version {VERSION}).",
        *("", "| split | rows |", "|---|--:|", *(f"| {split} | {count(rows)} |" for split, rows in sizes.items()), ""),
        *("## Data and model", "", f"- model: sha256 {about.model.sha256 or 'unknown'}"),
        *(_corpus(split, one) for split, one in about.corpora.items()),
        *(f"- seed: {'unknown' if about.seed is None else about.seed}", "", "## Columns", ""),
        *(_column(table, column) for column in columns),
        *("", "## Glossary", "", *(f"- {escaped(term)}: {escaped(said)}" for term, said in MEANING.items())),
        *("", "## Limits", "", *(f"- {escaped(said)}" for said in LIMITS), ""),
    ]
    return "\n".join(lines)


def _column(table: str, column: str) -> str:
    """Return the line of a column; those of the best heads are as in scores, and one not declared has only its name."""
    told = meaning(table, column) or EXPORTED_SCORES.meaning(column)
    return f"- `{column}`: {escaped(told)}" if told else f"- `{column}`"


def _corpus(split: str, corpus: CorpusFacts) -> str:
    name, mark = escaped(corpus.name or "unknown"), corpus.fingerprint or "unknown"
    return f"- corpus ({split}): {name}, {corpus.texts() or 'unknown size'}, fingerprint {mark}"


def yaml_lines(values: Mapping[str, str | Sequence[str]]) -> list[str]:
    """Return front matter in YAML; texts are quoted as JSON has them, which YAML reads."""
    lines = []
    for key, value in values.items():
        if isinstance(value, str):
            lines.append(f"{key}: {json.dumps(value)}")
        else:
            lines += [f"{key}:", *(f"- {json.dumps(one)}" for one in value)]
    return lines

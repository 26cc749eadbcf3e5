"""The card of a data set of scores, as the hub shows it: front matter in YAML, then what the numbers are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from reports.formats import count, escaped
from reports.page.columns import meaning
from reports.run.record import CorpusFacts
from reports.scores.glossary import LIMITS, MEANING
from reports.scores.taxonomy import EXPORTED_SCORES
from reports.tables.json_schema import VERSION

if TYPE_CHECKING:
    from reports.run.folder import RunFolder


def dataset_card(run: RunFolder, table: str, columns: Sequence[str], sizes: Mapping[str, int]) -> str:
    """Return the card of a table of a run, in Markdown; `sizes` are the rows of each split."""
    front = {"pretty_name": f"{run.name}: {table}", "tags": ["attention-heads", "interpretability", "headscope"]}
    about = run.record
    lines = [
        *("---", *yaml_lines(front), "---", ""),
        *(f"# {escaped(run.name)}: {escaped(table)}", ""),
        f"Numbers about the attention heads of {escaped(about.model.name or 'a model')}, made by headscope "
        f"{escaped(about.headscope or '')}. Open them with `datasets.load_from_disk`, or `{table}.parquet` with "
        f"pandas: the same rows in one file, whose columns `{table}.schema.json` declares (JSON Schema, "
        f"version {VERSION}).",
        *("", "| split | rows |", "|---|--:|", *(f"| {split} | {count(rows)} |" for split, rows in sizes.items()), ""),
        *("## Data and model", "", f"- model: sha256 {about.model.sha256 or 'unknown'}"),
        *(_corpus(split, one) for split, one in about.corpora.items()),
        *(f"- seed: {'unknown' if about.seed is None else about.seed}", "", "## Columns", ""),
        *(_column(table, column) for column in columns),
        *("", "## Glossary", "", *(f"- {escaped(term)}: {escaped(said)}" for term, said in MEANING)),
        *("", "## Limits", "", *(f"- {escaped(said)}" for said in LIMITS), ""),
    ]
    return "\n".join(lines)


def _column(table: str, column: str) -> str:
    """Return the line of a column; those of the best heads are as in scores, and one not declared has only its name."""
    told = meaning(table, column) or EXPORTED_SCORES.meaning(column)
    return f"- `{column}`: {escaped(told)}" if told else f"- `{column}`"


def _corpus(split: str, corpus: CorpusFacts) -> str:
    name, mark = escaped(corpus.name or "unknown"), corpus.fingerprint or "unknown"
    return f"- corpus ({split}): {name}, {count(corpus.sentences)} sentences, fingerprint {mark}"


def yaml_lines(values: Mapping[str, str | Sequence[str]]) -> list[str]:
    """Return front matter in YAML; texts are quoted as JSON has them, which YAML reads."""
    lines = []
    for key, value in values.items():
        if isinstance(value, str):
            lines.append(f"{key}: {json.dumps(value)}")
        else:
            lines += [f"{key}:", *(f"- {json.dumps(one)}" for one in value)]
    return lines

"""The card of a data set of scores, as the hub shows it: front matter in YAML, then what the numbers are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports.formats import count, escaped
from reports.page.columns import meaning
from reports.scores.glossary import LIMITS, MEANING

if TYPE_CHECKING:
    from reports.run.folder import RunFolder


def dataset_card(run: RunFolder, table: str, columns: Sequence[str], sizes: Mapping[str, int]) -> str:
    """Return the card of a table of a run, in Markdown; `sizes` are the rows of each split."""
    front = {"pretty_name": f"{run.name}: {table}", "tags": ["attention-heads", "interpretability", "headscope"]}
    model = run.record.get("model", {})
    corpora = run.record.get("corpora", {})
    lines = [
        *("---", *yaml_lines(front), "---", ""),
        *(f"# {escaped(run.name)}: {escaped(table)}", ""),
        f"Numbers about the attention heads of {escaped(model.get('name', 'a model'))}, made by headscope "
        f"{escaped(run.record.get('headscope', ''))}. Open them with `datasets.load_from_disk`.",
        *("", "| split | rows |", "|---|--:|", *(f"| {split} | {count(rows)} |" for split, rows in sizes.items()), ""),
        *("## What was read", "", f"- model: sha256 {model.get('sha256', 'unknown')}"),
        *(_corpus(split, one) for split, one in corpora.items()),
        *(f"- seed: {run.record.get('seed', 'unknown')}", "", "## Columns", ""),
        *(_column(table, column) for column in columns),
        *("", "## What the numbers mean", "", *(f"- {escaped(term)}: {escaped(said)}" for term, said in MEANING)),
        *("", "## What they do not mean", "", *(f"- {escaped(said)}" for said in LIMITS), ""),
    ]
    return "\n".join(lines)


def _column(table: str, column: str) -> str:
    """Return the line of a column; those of the best heads are as in scores, and one not declared has only its name."""
    told = meaning(table, column) or meaning("scores", column)
    return f"- `{column}`: {escaped(told)}" if told else f"- `{column}`"


def _corpus(split: str, corpus: Mapping[str, Any]) -> str:
    name, mark = escaped(corpus.get("name", "unknown")), corpus.get("fingerprint", "unknown")
    return f"- corpus ({split}): {name}, {count(corpus.get('sentences'))} sentences, fingerprint {mark}"


def yaml_lines(values: Mapping[str, str | Sequence[str]]) -> list[str]:
    """Return front matter in YAML; texts are quoted as JSON has them, which YAML reads."""
    lines = []
    for key, value in values.items():
        if isinstance(value, str):
            lines.append(f"{key}: {json.dumps(value)}")
        else:
            lines += [f"{key}:", *(f"- {json.dumps(one)}" for one in value)]
    return lines

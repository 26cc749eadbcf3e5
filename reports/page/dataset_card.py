"""The card of a data set of scores, as the hub shows it: front matter in YAML, then what the numbers are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from reports.formats import count, escaped
from reports.run.record import CorpusFacts
from reports.scores.glossary import LIMITS, MEANING

if TYPE_CHECKING:
    from reports.run.folder import RunFolder

MEANINGS: Final[Mapping[str, str]] = {
    "step": "of the model's training, where it is known",
    "maps": "what was read of the heads: weights, norms or rollout",
    "layer": "from 0",
    "head": "from 0",
    "name": "layer-head, counted from 1",
    "split": "select: heads were chosen here; report: their numbers are quoted from here",
    "n": "scored words",
    "clusters": "documents (or sentences where there are none) that intervals are drawn from",
    "accuracy": "share of words whose most attended candidate is right, in [0, 1]; missing where n = 0",
    "mass": "mean attention on the right words",
    "coverage": "mean attention on all candidates",
    "share": "mass / coverage",
    "baseline": "the strongest baseline or control",
    "margin": "accuracy minus that of the strongest baseline or control",
    "lexical_accuracy": "of a supervised table of word forms and offsets",
    "near_ties": "words whose top two candidates lie within 0.00001",
    "p_adjusted": "corrected for all heads and labels of the run",
    "stability": "share of resamples in which the head is the best",
    "selected": "the best head of the selection split",
    "specialised": "surely above every baseline and control, and by enough",
    "beyond_lexical": "surely above the lexical table as well",
}


def dataset_card(run: RunFolder, table: str, columns: Sequence[str], sizes: Mapping[str, int]) -> str:
    """Return the card of a table of a run, in Markdown; `sizes` are the rows of each split."""
    front = {"pretty_name": f"{run.name}: {table}", "tags": ["attention-heads", "interpretability", "headscope"]}
    about = run.about
    lines = [
        *("---", *yaml_lines(front), "---", ""),
        *(f"# {escaped(run.name)}: {escaped(table)}", ""),
        f"Numbers about the attention heads of {escaped(about.model.name or 'a model')}, made by headscope "
        f"{escaped(about.headscope or '')}. Open them with `datasets.load_from_disk`.",
        *("", "| split | rows |", "|---|--:|", *(f"| {split} | {count(rows)} |" for split, rows in sizes.items()), ""),
        *("## What was read", "", f"- model: sha256 {about.model.sha256 or 'unknown'}"),
        *(_corpus(split, one) for split, one in about.corpora.items()),
        *(f"- seed: {'unknown' if about.seed is None else about.seed}", "", "## Columns", ""),
        *(f"- `{column}`{': ' + MEANINGS[column] if column in MEANINGS else ''}" for column in columns),
        *("", "## What the numbers mean", "", *(f"- {escaped(term)}: {escaped(said)}" for term, said in MEANING)),
        *("", "## What they do not mean", "", *(f"- {escaped(said)}" for said in LIMITS), ""),
    ]
    return "\n".join(lines)


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

"""Design help: how many sentences a corpus must have for a head of a given margin to be found."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import reports
from experiments.inputs.corpora import open_corpus
from experiments.record.progress import Progress, counter, silent
from probes import Probe, get_probe
from probes.corpora.corpus import Texts
from probes.evidence.results import told_questions
from probes.scoring.tally import Question

RECORD = Path(reports.__file__).parent / "published" / "sandbox" / "sandbox.json"
"The published study, whose power curves are read."

CHUNK = 64
"Texts that are read at a time."


class DesignError(ValueError):
    """A question that the power curves do not answer."""


@cache
def published_record() -> dict[str, Any]:
    """Return the record of the published study; raises DesignError where it is missing."""
    try:
        record: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DesignError(f"{RECORD}: missing; make it with 'headscope sandbox --out {RECORD.parent}'") from None
    return record


@dataclass(frozen=True)
class Needed:
    """What it takes to call a head of some margin specialised in some share of runs."""

    items: int
    documents: int
    at_most: bool
    "Whether even fewer may do: the smallest size that was simulated has more power."


def needed_for(needed: Sequence[Mapping[str, Any]], margin: float, power: float) -> Needed:
    """Return what a label takes to call a head of that margin specialised in that share of runs.

    `needed` is that part of a study's record. Between margins that were simulated, logarithms are interpolated. Raises
    DesignError for margins and powers that the study does not reach.
    """
    powers = sorted({row["power"] for row in needed})
    if power not in powers:
        raise DesignError(f"power {power}: the curves were read at {' and '.join(map(str, powers))}")
    rows = [row for row in needed if row["power"] == power and row["items"]]
    margins = [row["margin"] for row in rows]
    if not rows:
        raise DesignError(f"power {power}: no margin reached it at the sizes that were simulated")
    if not min(margins) <= margin <= max(margins):
        raise DesignError(
            f"margin {margin}: a power of {power} was reached for margins from {min(margins)} to {max(margins)}; "
            "a head must be above the threshold of the rule by some points to be found"
        )
    items, documents = (
        float(np.exp(np.interp(np.log(margin), np.log(margins), np.log([row[name] for row in rows]))))
        for name in ("items", "documents")
    )
    above = [row for row in rows if row["margin"] >= margin]
    return Needed(math.ceil(items - 1e-6), math.ceil(documents - 1e-6), any(row["at_most"] for row in above[:1]))


@dataclass(frozen=True)
class Demand:
    """What one label of a corpus needs."""

    probe: str
    variant: str
    label: str
    items: int
    "That the corpus has."
    documents: int
    "In how many documents."
    sentences: int
    "That it takes, at the corpus's rates of items and of documents a sentence."


def demands(
    texts: Texts,
    probes: Sequence[Probe],
    sentences: int,
    needed: Needed,
    step: Callable[[int], None] = lambda texts: None,
) -> list[Demand]:
    """Return what each label of `texts`, which are of that many sentences, takes.

    Labels are those of a run: "det:*" is left out where it is no more than "det", and so are heads that are asked to be
    broad, which nothing is held against. `step` is told how many texts more were read.
    """
    counts: Counter[Question] = Counter()
    documents: dict[Question, set[str]] = {}
    for chunk in texts.chunks(CHUNK):
        for text in chunk:
            for probe in probes:
                for variant, targets in probe.targets(text).items():
                    asked = () if targets.spread else targets.label
                    for question in ((probe.name, variant, name) for label in asked for name in probe.pool(label)):
                        counts[question] += 1
                        documents.setdefault(question, set()).add(text.id)
        step(len(chunk))
    found = []
    for question in told_questions(counts):
        share = max(needed.items / counts[question], needed.documents / len(documents[question]))
        rates = (counts[question], len(documents[question]), math.ceil(sentences * share - 1e-6))
        found.append(Demand(*question, *rates))
    return found


@dataclass(frozen=True)
class Design:
    """What all labels of a corpus need for a head of one margin to be found."""

    margin: float
    power: float
    needed: Needed
    sentences: int
    "That the corpus has."
    demands: Sequence[Demand]
    "Those that take the fewest sentences first."


def design(name: str, asked: Sequence[str], margin: float, power: float, progress: Progress = silent) -> Design:
    """Return what each label of a corpus (a name or a file) takes in the questions of the probes that are `asked`.

    Raises DesignError where the study does not reach margin or power, and where the corpus has no question.
    """
    needed = needed_for(published_record()["needed"], margin, power)
    corpus = open_corpus(name)
    size = corpus.size()["sentences"]
    found: list[Demand] = []
    for scope in ("sentence", "window"):
        probes = [probe for probe in map(get_probe, asked) if probe.scope == scope]
        if probes:
            texts = corpus.sentences() if scope == "sentence" else corpus.windows(100)
            step = counter(progress, f"counting questions in {name} ({scope}s)", len(texts))
            found += demands(texts, probes, size, needed, step)
    if not found:
        raise DesignError(f"{name}: no question for {', '.join(asked)} in it")
    found.sort(key=lambda one: (one.sentences, one.probe, one.variant, one.label))
    return Design(margin, power, needed, size, found)


def print_design(told: Design, rows: int = 40) -> None:
    """Print what each label takes; rare labels beyond `rows` are counted."""
    console, needed, size, found = Console(highlight=False), told.needed, told.sentences, told.demands
    console.print(
        f"A head whose accuracy is {100 * told.margin:g} points above its strongest baseline is called specialised in "
        f"{100 * told.power:g} % of runs when a label has {'at most ' if needed.at_most else ''}{needed.items:,} "
        f"scored words in {needed.documents:,} documents of the report split (headscope sandbox)."
    )
    table = Table(
        "probe", "variant", "label", "items", "documents", "sentences needed", f"enough of {size:,}?", box=None
    )
    for one in found[:rows]:
        row = (one.probe, one.variant, one.label, f"{one.items:,}", f"{one.documents:,}", f"{one.sentences:,}")
        table.add_row(*map(escape, row), "yes" if one.sentences <= size else "no")
    console.print(table)
    if len(found) > rows:
        console.print(f"and {len(found) - rows} rarer labels, which need over {found[rows - 1].sentences:,} sentences")

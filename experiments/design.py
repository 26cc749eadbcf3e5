"""Design help: how many sentences a corpus must have for a head of a given margin to be found."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

import reports
from probes import Corpus, Probe, get_probe
from probes.corpora import Texts, corpus_path

RECORD = Path(reports.__file__).parent / "published" / "sandbox" / "sandbox.json"
"The published study, whose power curves are read."

WARN_MARGIN, WARN_POWER = 0.2, 0.8
"A label with fewer items than this margin needs for this power is marked on the page of a run."


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


def items_needed(needed: Sequence[Mapping[str, Any]], margin: float, power: float) -> int:
    """Return how many items of a label it takes to call a head of that margin specialised in that share of runs.

    `needed` is that part of a study's record. Between margins that were simulated, the logarithm of the items is
    interpolated over the logarithm of the margin. Raises DesignError for margins and powers that the study does not
    reach.
    """
    powers = sorted({row["power"] for row in needed})
    if power not in powers:
        raise DesignError(f"power {power}: the curves were read at {' and '.join(map(str, powers))}")
    points = sorted((row["margin"], row["items"]) for row in needed if row["power"] == power and row["items"])
    if not points:
        raise DesignError(f"power {power}: no margin reached it at the sizes that were simulated")
    if not points[0][0] <= margin <= points[-1][0]:
        raise DesignError(
            f"margin {margin}: a power of {power} was reached for margins from {points[0][0]} to {points[-1][0]}; "
            "a head must be above the threshold of the rule by some points to be found"
        )
    for (low, few), (high, many) in pairwise(points):
        if low <= margin <= high:
            part = (math.log(margin) - math.log(low)) / (math.log(high) - math.log(low))
            return math.ceil(math.exp(math.log(few) + part * (math.log(many) - math.log(few))) - 1e-9)
    return int(points[0][1])


@dataclass(frozen=True)
class Demand:
    """What one label of a corpus needs."""

    probe: str
    variant: str
    label: str
    items: int
    "That the corpus has."
    sentences: int
    "That it takes, at the corpus's rate of items a sentence."


def demands(texts: Texts, probes: Sequence[Probe], sentences: int, needed: int) -> list[Demand]:
    """Return what each label of `texts`, which are of that many sentences, takes to have `needed` items."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for chunk in texts.chunks(512):
        for text in chunk:
            for probe in probes:
                for variant, targets in probe.targets(text).items():
                    counts.update((probe.name, variant, name) for label in targets.label for name in probe.pool(label))
    return [Demand(*question, n, math.ceil(needed * sentences / n)) for question, n in counts.items()]


def smallest_n() -> dict[str, Any] | None:
    """Return what a run's page needs to mark labels with too few items; None where no study is at hand."""
    try:
        record = published_record()
        items = items_needed(record["needed"], WARN_MARGIN, WARN_POWER)
    except DesignError:
        return None
    commit = str(record.get("git_commit") or "")[:8]
    source = f"headscope sandbox, {record['started'][:10]}, commit {commit}"
    return {"margin": WARN_MARGIN, "power": WARN_POWER, "items": items, "source": source}


def print_design(name: str, asked: Sequence[str], margin: float, power: float, rows: int = 40) -> None:
    """Print what each label of a corpus (a name or a CoNLL-U file) takes; rare labels beyond `rows` are counted."""
    console, needed = Console(highlight=False), items_needed(published_record()["needed"], margin, power)
    corpus = _open(name)
    size = corpus.size()["sentences"]
    found: list[Demand] = []
    for scope in ("sentence", "window"):
        probes = [probe for probe in map(get_probe, asked) if probe.scope == scope]
        if probes:
            texts = corpus.sentences() if scope == "sentence" else corpus.windows(100)
            found += demands(texts, probes, size, needed)
    if not found:
        raise DesignError(f"{name}: no question for {', '.join(asked)} in it")
    console.print(
        f"A head whose accuracy is {100 * margin:g} points above its strongest baseline is called specialised in "
        f"{100 * power:g} % of runs when a label has {needed:,} scored words in the report split (headscope sandbox)."
    )
    table = Table("probe", "variant", "label", "items", "sentences needed", f"enough of {size:,}?", box=None)
    found.sort(key=lambda one: (one.sentences, one.probe, one.variant, one.label))
    for one in found[:rows]:
        row = (one.probe, one.variant, one.label, f"{one.items:,}", f"{one.sentences:,}")
        table.add_row(*map(escape, row), "yes" if one.sentences <= size else "no")
    console.print(table)
    if len(found) > rows:
        console.print(f"and {len(found) - rows} rarer labels, which need over {found[rows - 1].sentences:,} sentences")


def _open(name: str) -> Corpus:
    if name == "grammar":
        return Corpus.generated(400, 0)
    path = Path(name)
    return Corpus.read(path) if path.is_file() else Corpus.read(corpus_path(name), name=name)

"""The numbers of all heads by which a page colours its grid and places its scatter: those that the run has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pandas as pd

from reports.blocks.block import HeadMap
from reports.formats import percent
from reports.heads.card_parts import SHAPES, CardSource
from reports.scores.effects import behaviour_text, scale_of
from reports.scores.plain_names import baseline_name, role

ENTROPY: Final = SHAPES["entropy", "all tokens"].rpartition(", ")[0]
"The number that a scatter has across where the run measured it."


def head_numbers(source: CardSource) -> tuple[HeadMap, ...]:
    """Return the numbers of a run's heads: attention, effects of ablation, then accuracy on every tested label."""
    return (*_attention(source), *_effects(source), *_accuracies(source))


def accuracy_title(probe: str, label: str, variant: str) -> str:
    """Return what the accuracy on a label, read as a variant says, is called."""
    return f"accuracy: {role(probe, label, variant)}"


def number_data(numbers: Sequence[HeadMap]) -> list[dict[str, Any]]:
    """Return numbers as the page's script reads them: as many digits as tables have, None where there is none."""
    return [
        {
            "title": one.title,
            "unit": one.unit,
            "group": one.group,
            "values": [_rounded(value, one.unit) for row in one.values for value in row],
            "about": one.about,
            "marked": [place for place, marked in enumerate(one.marked) if marked],
        }
        for one in numbers
    ]


def _rounded(value: float, unit: str) -> float | None:
    if value != value:
        return None
    return round(value, 1) if unit in ("%", "percentage points") else float(f"{value:.3g}")


def _attention(source: CardSource) -> Iterator[HeadMap]:
    """Yield what attention is like: to special tokens, explained by roles, and the statistics that cards tell."""
    run, shape = source.run, (source.run.layers, source.run.heads)
    if len(sinks := run.last("sinks")):
        title = "attention of words to special tokens"
        yield HeadMap.of(title, sinks, "special", shape, unit="%", factor=100, group="attention")
    if len(explained := run.last("heads")):
        explained, title = (
            explained[explained["scope"] == explained["scope"].iloc[0]],
            "attention explained by its roles",
        )
        yield HeadMap.of(title, explained, "explained", shape, unit="%", factor=100, group="attention")
    if len(described := run.last("descriptions")):
        title = "accuracy of its description"
        yield HeadMap.of(title, described, "accuracy", shape, unit="%", factor=100, group="attention")
    if len(shapes := run.last("shapes")):
        shapes = shapes[(shapes["split"] == "report") & (shapes["scope"] == shapes["scope"].iloc[0])]
    for (kind, measure), said in SHAPES.items() if len(shapes) else ():
        rows = shapes[(shapes["kind"] == kind) & (shapes["measure"] == measure)]
        title, _, unit = said.rpartition(", ")
        if rows["value"].notna().any():
            factor = 100 if unit == "%" else 1
            yield HeadMap.of(title, rows, "value", shape, unit=unit, factor=factor, group="attention")


def _effects(source: CardSource) -> Iterator[HeadMap]:
    """Yield what each behaviour loses when one head is ablated, by every way and measure."""
    run = source.run
    costs = run.last("ablations")
    if costs.empty:
        return
    heads = costs[costs["kind"] == "head"]
    for (_, way, _), rows in heads.groupby(["behaviour", "way", "measure"], sort=False):
        first = rows.iloc[0]
        scale, title = scale_of(first), f"effect: loss of {behaviour_text(first)} without the head ({way})"
        shape = (run.layers, run.heads)
        yield HeadMap.of(title, rows, "cost", shape, unit=scale.unit, factor=scale.factor, group="effect")


def _accuracies(source: CardSource) -> Iterator[HeadMap]:
    """Yield the accuracy on every label and direction that was tested, but for pools and slices of labels."""
    rows, shape = source.rows, (source.run.layers, source.run.heads)
    for (probe, label, variant), heads in rows[rows["own"]].groupby(["probe", "label", "variant"]):
        yield HeadMap.of(
            accuracy_title(str(probe), str(label), str(variant)),
            heads,
            "accuracy",
            shape,
            unit="%",
            factor=100,
            marked=heads["graded"].tolist(),
            group=f"accuracy, {probe}",
            about=_rivals(heads.iloc[0]),
        )


def _rivals(row: pd.Series) -> str:
    """Return what the heads are compared with on a label."""
    known = {
        baseline_name(row["baseline"]): row["baseline_accuracy"],
        "a table of words and distances": row["lexical_accuracy"],
        f"the rule of grammar “{row['rule']}”": row["rule_accuracy"],
    }
    return ", ".join(f"{name} {percent(one)} %" for name, one in known.items() if one == one)

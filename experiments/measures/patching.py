"""Activation patching: which heads bring the answer back that a corrupted sentence has lost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from pydantic import Field

from experiments.config.section import GRAMMAR
from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, HeadMap, Points, TableBlock, Terms
from reports.formats import count, decimal, names, percent, signed, signed_percent
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.scores.effects import NumberScale, significant
from reports.scores.verdicts import Verdicts
from reports.tables.cells import TextColumn
from reports.tables.effects import ALL_PLACES
from reports.tables.shared_columns import (
    CLUSTERS,
    LEVEL,
    ONE_HEAD,
    P_ADJUSTED,
    P_LABEL,
    P,
    ends,
    number,
    run_table,
    text,
    whole,
)
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.causal.patching import Effects, PatchItem
    from probes.minimal_pairs import LeftOut
    from probes.pairs.number_swaps import NumberSwap

SHOWN: Final = 12
"Heads that the table has at the most."

PATCHING: Final = run_table(
    "One row for each role of places in the sentence and head.",
    ("role", "layer", "head"),
    (
        text("role", "Places that are patched, such as the subject; all places is all of them at once."),
        *ONE_HEAD,
        whole("n", "Number of sentence pairs.", 1),
        CLUSTERS,
        number(
            "share",
            "Share of the answer that the head restores; 1 is all of it, below 0 it hurts.",
            None,
            "ci",
            signed_percent,
        ),
        *ends("ci", "the share", signed_percent),
        number("estimate", "The same share to first order, by gradients.", write=signed_percent),
        number(
            "direct",
            "Share that the head writes straight into the logits; missing where that is not defined.",
            write=signed_percent,
        ),
        replace(P, meaning="p-value of the share for this row alone; missing where nothing was tested."),
        replace(P_LABEL, meaning="p corrected for all heads of the role."),
        replace(P_ADJUSTED, meaning="p corrected for all heads and roles; missing where nothing was tested."),
    ),
)

TERMS: Final = {
    "patching": "A sentence of the grammar is read as it is (clean), and with its subject in the other number "
    "(corrupted): “the dog … [MASK]”, “the dogs … [MASK]”. While the corrupted one is read, one head has its output of "
    "the clean one, before W_O (Vig et al. 2020). The answer is the logit of the correct verb form less that of the "
    "incorrect one.",
    "share": "How much is restored of the difference between the clean and the corrupted answer: a ratio of sums over "
    "sentences, 100 % for all of it. Heads do not divide it among them: each of several may restore all of it, and one "
    "may undo what another does, so that shares can be negative and need not add up to 100 %.",
    "all places, roles": "All places: the head is patched everywhere at once. A role: it is patched at one place "
    "alone, and what the places of that role restore is added up. Attractors are nouns between subject and verb of "
    "another number than the clean subject; the verb is the masked piece. Only sentences that have the role count for "
    "it.",
    "p": "Two-sided, of a t test by document that allows for skew (Hall 1992), corrected for all heads and all roles. "
    "Intervals are those of a bootstrap over documents.",
    "estimate": "The same share to first order: the gradient of the answer at the head’s output in the corrupted run, "
    "times how far its clean output is from it; that is the gradient at what the head writes, times the difference of "
    "what it writes. It takes three passes for all heads and places together, and is wrong where the path bends.",
    "direct": "What the head writes straight into the two logits (Elhage et al. 2021), clean less corrupted: through "
    "W_O, the final LayerNorm with its variance held fast, and the readout. Nothing that other parts make of it is in "
    "it, so it is reported only for a pre-norm encoder with a linear readout.",
}


class PatchingError(ValueError):
    """A model that cannot be asked about any sentence."""


class PatchingMeasure(Measure):
    """Which heads bring an answer back that a corrupted sentence has lost; for models with a masked-LM head."""

    name = "patching"
    title = "Activation patching of the answer"
    place = 140
    switch = "enabled"
    tables = {"patching": PATCHING}
    methods = (
        Method(
            "On at most {items} sentences of the grammar (seed {seed}), the output of a head in the sentence was put "
            "into the same sentence with its subject in the other number (Vig et al. 2020).",
            title="Activation patching",
        ),
    )

    enabled: bool = False
    "Whether heads are patched at all."
    items: int = Field(default=200, ge=2)
    "Sentences of the grammar that are patched at the most."
    seed: int = 83
    "Seed of these sentences, which should be none of a grammar that the model was trained on."

    def wanted(self, run: RunContext) -> bool:
        """Return whether it is switched on; raises ModelError for a model without a masked-LM head."""
        return self.enabled and run.lm is not None

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return what each head restores; note how far the model tells sentences apart, and what was left out."""
        from probes.causal.patching import measure_patching, patch_items, patch_table
        from probes.scoring.aligned import Dropped

        swaps, left_out = _swaps(self.items, self.seed)
        items, unfit = patch_items(run.lm, swaps)
        run.note_dropped("report", "sentence", self.name, Dropped.of([*left_out, *unfit]))
        if not items:
            reasons = ", ".join(Counter(one.reason for one in unfit))
            raise PatchingError(f"patching: {run.model.name} can be tested on none of {len(swaps)}: {reasons}")
        effects = measure_patching(run.lm, items, step=run.counter("activation patching", len(items)))
        run.fact(self.name, _facts(run, items, effects))
        return {"patching": patch_table(items, effects, run.effort).assign(corpus=GRAMMAR)}

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield what came back, and the strongest heads by role of the place."""
        patched = run.last("patching")
        every = patched[patched["role"] == ALL_PLACES]
        if every.empty:
            return
        ranked = every.sort_values("share", key=abs, ascending=False, kind="stable").dropna(subset="share")
        facts = run.facts(cls.name)
        yield Points([*_asked(facts, every), *_found(every, ranked), *_quick(facts)])
        yield Terms(TERMS.items())
        if len(ranked):
            yield TableBlock(_strongest(patched, ranked))

    @classmethod
    def maps(cls, run: RunFolder) -> Iterator[HeadMap]:
        """Yield the share of the answer that every head restores, patched at all places at once."""
        patched, title = run.last("patching"), "share of the clean answer that the head restores, at all places"
        every = patched[patched["role"] == ALL_PLACES]
        if every.empty:
            return
        marked, shape = (every["p_adjusted"] < LEVEL).tolist(), (run.layers, run.heads)
        yield HeadMap.of(title, every, "share", shape, unit="%", factor=100, marked=marked, group="effect")

    @classmethod
    def effects(cls, run: RunFolder, verdicts: Verdicts) -> Iterator[str]:
        """Yield how many heads bring an answer back that a corrupted sentence has lost."""
        patched = run.last("patching")
        every = patched[patched["role"] == ALL_PLACES]
        if every.empty:
            return
        yield (
            f"Patched from a sentence whose subject has the other number, {len(significant(every, 'share')[0])} of "
            f"{len(every)} heads, each alone, restore a significant part of the preference for the correct verb form."
        )


def _swaps(items: int, seed: int) -> tuple[list[NumberSwap], list[LeftOut]]:
    from probes.minimal_pairs import LeftOut
    from probes.pairs.number_swaps import number_swapped

    swaps: list[NumberSwap] = []
    left_out: list[LeftOut] = []
    for one in number_swapped(seed):
        if isinstance(one, LeftOut):
            left_out.append(one)
        else:
            swaps.append(one)
        if len(swaps) == items:
            break
    return swaps, left_out


def _facts(run: RunContext, items: list[PatchItem], effects: Effects) -> dict[str, Any]:
    """Return what holds for all heads together; shares of sentences in which the right answer is preferred."""
    from probes.causal.patching import agreements

    return {
        "items": len(items),
        "clusters": len({item.source for item in items}),
        "clean": float(effects.clean.mean()),
        "corrupted": float(effects.corrupted.mean()),
        "right_clean": float((effects.clean > 0).double().mean()),
        "right_corrupted": float((effects.corrupted > 0).double().mean()),
        **{name: float(number) for name, number in agreements(items, effects, run.effort).items()},
        "why_no_direct": effects.why_not,
    }


def _strongest(patched: pd.DataFrame, ranked: pd.DataFrame) -> TextTable:
    roles = [str(role) for role in patched["role"].drop_duplicates() if role != ALL_PLACES]
    shares = {(row["name"], row["role"]): float(row["share"]) for row in patched.to_dict("records")}
    columns = (
        PATCHING["name"].shown("Head", "row", css="head"),
        PATCHING["share"].shown("All places", css="strong"),
        PATCHING["share"].shown_interval(plain="interval"),
        PATCHING["p_adjusted"].shown(),
        PATCHING["estimate"].shown(unit=False),
        *([PATCHING["direct"].shown(unit=False)] if ranked["direct"].notna().any() else []),
        *(TextColumn(_title(role), partial(_share, shares, role)) for role in roles),
    )
    title = "The strongest heads: percent of the difference, patched at all places and at those of a role alone"
    return TextTable.of(title, columns, ranked.head(SHOWN).to_dict("records"))


def _title(role: str) -> str:
    return role if role.startswith("[") else role.capitalize()


def _share(shares: Mapping[tuple[str, str], float], role: str, row: Mapping[Any, Any]) -> str:
    return signed(shares[row["name"], role])


def _asked(facts: Mapping[str, Any], every: pd.DataFrame) -> Iterator[str]:
    clusters = int(every["clusters"].max())
    if clusters < FEW_CLUSTERS:
        yield f"⚠ Only {count(clusters)} documents: intervals are rough, and tests have little power."
    if facts:
        right, turned = percent(facts["right_clean"]), percent(facts["right_corrupted"])
        yield (
            f"{count(facts['items'])} sentences of the embedded grammar, from {count(facts['clusters'])} documents. "
            f"The verb form that agrees with the clean subject is preferred in {right} % of the clean ones (by "
            f"{decimal(facts['clean'])} on average, a difference of logits) and in {turned} % of the corrupted ones "
            f"({decimal(facts['corrupted'])})."
        )


def _found(every: pd.DataFrame, ranked: pd.DataFrame) -> Iterator[str]:
    if ranked.empty:
        yield (
            "On average nothing is lost by the corruption: the model does not use the number of the subject here, "
            "and no share can be estimated."
        )
        return
    gains, losses = (heads["name"].tolist() for heads in significant(ranked, "share"))
    first = ranked.iloc[0]
    between = NumberScale.interval(signed, first["ci_low"], first["ci_high"])
    yield (
        f"Of {len(every)} heads {len(gains)} restore a significant part ({names(gains, 6)}), and {len(losses)} "
        f"significantly reduce the answer ({names(losses, 6)}). The strongest is {first['name']}: "
        f"{signed(first['share'])} % of the difference{',' * bool(between)}{between}."
    )


def _quick(facts: Mapping[str, Any]) -> Iterator[str]:
    for title, of in (("The first-order estimate", "estimate"), ("Direct logit attribution", "direct")):
        if f"{of}_rho" in facts:
            rho, low, high, slope = (facts.get(f"{of}_{name}", math.nan) for name in ("rho", "low", "high", "slope"))
            yield (
                f"{title} puts heads in the order of patching with a rank correlation of {decimal(rho)} "
                f"[{decimal(low)}, {decimal(high)}]; its shares are {decimal(slope)} times as large."
            )
    if facts.get("why_no_direct"):
        yield f"No direct logit attribution: {facts['why_no_direct']}."

"""Transfer: whether what a head gives at the verb of one sentence serves another one with the same answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Self

import pandas as pd
from pydantic import Field, model_validator

from experiments.config.section import EMBEDDING, LOSS, BehaviourNames
from experiments.run.measure import BehaviourMeasure, Frames, Read, tables_of
from reports.blocks.block import Block, Heading, Points, TableBlock, Terms
from reports.formats import cost, count, names, percent, signed
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.tables.effects import OF_BEHAVIOUR
from reports.tables.shared_columns import (
    CLUSTERS,
    ONE_HEAD,
    P_ADJUSTED,
    P,
    difference,
    ends,
    flag,
    fraction,
    number,
    p_column,
    run_table,
    whole,
)
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.causal.behaviours import Behaviour

SHOWN: Final = 12
"Heads that a table has at the most, those with the largest transfer of either sign."

TRANSFER: Final = run_table(
    "One row for each behaviour and head.",
    ("behaviour", "layer", "head"),
    (
        *OF_BEHAVIOUR,
        *ONE_HEAD,
        whole("n", "Number of sentences that receive outputs of others.", 1),
        CLUSTERS,
        fraction("matched", "Share of them whose donors have the same construction and as many attractors."),
        number("intact", "Mean margin of the correct verb form with the head's own output.", write=cost),
        number("same", "Mean margin with its output of a sentence with the same answer.", write=cost),
        number("other", "Mean margin with its output of a sentence with the other answer.", write=cost),
        number("mean", "Mean margin with its mean output; both answers weigh the same in it.", write=cost),
        number("transfer", "The margin with the same answer less that with the other.", None, "transfer", cost),
        *ends("transfer", "the transfer", cost),
        number("over_mean", "The margin with the same answer less that with the mean.", None, "over_mean", cost),
        *ends("over_mean", "that difference to the mean", cost),
        fraction("accuracy", "Share of sentences in which the correct form is preferred, with the head's own output."),
        fraction("accuracy_same", "The same with its output of a sentence with the same answer."),
        fraction("accuracy_other", "The same with its output of a sentence with the other answer."),
        fraction("accuracy_mean", "The same with its mean output."),
        difference("points", "Accuracy with the same answer minus that with the other.", "points"),
        *ends("points", "that difference of accuracies", signed),
        replace(P, meaning="p-value of the transfer for this row alone; missing where nothing was tested."),
        replace(P_ADJUSTED, meaning="p of the transfer, corrected for all heads; missing where nothing was tested."),
        p_column("p_over_mean", "p of the difference to the mean output, corrected for all heads."),
        flag(
            "transfers",
            "Whether the same answer keeps the margin significantly better than the other answer and the mean do.",
        ),
    ),
)

TERMS: Final = {
    "transfer": "A sentence is read with its verb masked, and the output of one head at that place, before W_O, is "
    "replaced by its output at the masked verb of another sentence (the donor): of another document, with another "
    "verb. Transfer is the margin with a donor whose verb has the same number, less that with a donor whose verb has "
    "the other. Both donors have the verb at the same place, so that what a head writes of the place alone cancels "
    "(arXiv 2606.08292).",
    "margin": "The log-odds, in nats, of the correct against the incorrect verb form.",
    "over the mean": "The margin with the same answer, less that with the head’s mean output over masked verbs. A "
    "head transfers where both differences are above 0 and significant: t tests by document that allow for skew (Hall "
    "1992), corrected for all heads.",
    "limits": "A head that transfers may know the number of the subject, or merely raise the forms of one number: both "
    "serve another sentence. A head that does not may still be needed, for what it writes of its own sentence or at "
    "other places. One head is changed at a time; what others write again is not seen.",
}
HEADS: Final = TRANSFER.text_columns(
    TRANSFER["name"].shown("Head", "row"),
    TRANSFER["transfer"].shown(css="strong"),
    TRANSFER["transfer"].shown_interval(),
    "p_adjusted",
    TRANSFER["transfers"].shown(),
    TRANSFER["over_mean"].shown("Over the mean"),
    TRANSFER["points"].shown("Points"),
    TRANSFER["same"].shown("Margin, same answer"),
    TRANSFER["other"].shown("Margin, other answer"),
    TRANSFER["mean"].shown("Margin, mean"),
)
"Of the table of a behaviour's heads."


class TransferMeasure(BehaviourMeasure):
    """Whether what heads give at a verb serves other sentences whose verb has the same number."""

    name = "transfer"
    title = "Transfer of the answer to other sentences"
    place = 150
    tables = {"transfer": TRANSFER}
    methods = (
        Method(
            "On at most {items} pairs of each behaviour ({behaviours}; seed {seed}), the output of a head at the "
            "masked verb was replaced by that at the verb of another sentence with the same answer, of one with the "
            "other answer, and by its mean (arXiv 2606.08292).",
            title="Transfer",
        ),
    )

    behaviours: BehaviourNames = ()
    """Minimal pairs of agreement as in [behaviour], for a model with a masked-LM head; those that differ in one piece
    are taken. Nothing is patched where nothing is said."""
    items: int = Field(default=500, ge=2)
    "Pairs at the most of each behaviour: those that receive, and those that give."
    seed: int = 97
    "Seed of which sentence gives to which."

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        for name in self.behaviours:
            if name in (LOSS, EMBEDDING):
                raise ValueError(f"{name!r} has no verb whose number could transfer; name minimal pairs of agreement")
        return self

    def wanted(self, run: RunContext) -> bool:
        """Return whether behaviours are named.

        Raises ModelError for a model without a masked-LM head, and BehaviourError for pairs that ask for no verb.
        """
        from probes.causal.transfer import draw_donors, verb_numbers

        for one in self.opened(run) if self.behaviours else ():
            draw_donors(verb_numbers(one)[0], self.seed)  # raises now what it would raise after all heads are scored
        return bool(self.behaviours)

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the transfer of every head; items that are not asked, or have no donors, are noted."""
        return tables_of(transfer=[self._table(run, one) for one in self.opened(run)])

    def _table(self, run: RunContext, whole: Behaviour) -> pd.DataFrame:
        from probes.causal.transfer import draw_donors, measure_transfer, transfer_table, verb_numbers
        from probes.scoring.aligned import Dropped

        behaviour, unfit = verb_numbers(whole)
        donors, without = draw_donors(behaviour, self.seed)
        run.note_dropped("report", behaviour.name, self.name, Dropped.of([*unfit, *without]))
        step = run.counter(f"transfer, {behaviour.name}", len(donors.recipients))
        margins = measure_transfer(behaviour, donors, step=step)
        shape, alpha = (run.model.layers, run.model.heads), run.config.verdict.alpha
        return transfer_table(behaviour, donors, margins, shape, run.effort, alpha=alpha)

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield what was asked of each behaviour, and the heads with the largest transfer."""
        yield Terms(TERMS.items())
        for behaviour, rows in run.last("transfer").groupby("behaviour", sort=False):
            ranked = rows.sort_values("transfer", key=abs, ascending=False, kind="stable")
            title = "Heads with the largest transfer, in nats of either sign"
            yield Heading(str(behaviour))
            yield Points([*_sentences(ranked)])
            yield TableBlock(TextTable.of(title, HEADS, ranked.head(SHOWN).to_dict("records")))


def _sentences(ranked: pd.DataFrame) -> Iterator[str]:
    first = ranked.iloc[0]
    if first["clusters"] < FEW_CLUSTERS:
        yield f"⚠ Only {count(first['clusters'])} documents: intervals are rough, and tests have little power."
    yield (
        f"{count(first['n'])} sentences of {count(first['clusters'])} documents; for {percent(first['matched'])} % of "
        "them both donors have the same construction and as many attractors. The correct form is preferred in "
        f"{percent(first['accuracy'])} % of sentences, by {cost(first['intact'])} nats on average."
    )
    found = [f"{row['name']} {cost(row['transfer'])}" for row in ranked[ranked["transfers"]].to_dict("records")]
    sizes = f" (in nats: {names(found, 6)})" if found else ""
    yield f"Of {len(ranked)} heads {len(found) or 'none'} significantly transfer the number of the verb{sizes}."

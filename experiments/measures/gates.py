"""Learned gates: which heads survive which price, and what is left of the behaviour with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, Self

import pandas as pd
from pydantic import Field, model_validator

from experiments.config.section import EMBEDDING
from experiments.run.measure import BehaviourMeasure, Frames, Read, tables_of
from reports.blocks.block import Block, Fold, HeadMap, Paragraph, TableBlock, Terms
from reports.formats import decimal, names
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.effects import GATE, Row, cost_text, scale_of
from reports.tables.cells import TextColumn
from reports.tables.effects import OF_BEHAVIOUR
from reports.tables.shared_columns import (
    FRACTIONS,
    ITEMS,
    MEASURE,
    ONE_HEAD,
    ends,
    flag,
    fraction,
    number,
    run_table,
    whole,
)
from reports.tables.table import Refuse
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.causal.behaviours import Behaviour
    from probes.causal.gates import Gated

MOST: Final = 8
"Heads that a cell names at the most; twice as many survivors have a row."

ROLES: Final = 3
"Labels that are named of a head."

_PRICE: Final = number("price", "What an open head costs while gates are learned, in the unit.")
_WEIGHTS: Final = flag("weights", "Whether the model's weights were trained along with the gates.")


def _check_left(frame: pd.DataFrame, refuse: Refuse) -> None:
    refuse(frame["left"] > frame["heads"], "`left` is not between 0 and `heads`")


GATES: Final = run_table(
    "One row for each behaviour, price and head.",
    ("behaviour", "price", "layer", "head"),
    (
        *OF_BEHAVIOUR,
        _PRICE,
        _WEIGHTS,
        *ONE_HEAD,
        number("gate", "What the head's output is multiplied by once gates are learned.", FRACTIONS, write=decimal),
        fraction("open", "Probability that the gate is not 0."),
    ),
)

PATHS: Final = run_table(
    "One row for each behaviour, measure and price: the model with its learned gates, on held-out items.",
    ("behaviour", "measure", "price"),
    (
        *OF_BEHAVIOUR,
        MEASURE,
        _PRICE,
        _WEIGHTS,
        whole("left", "Number of heads whose gate is open."),
        whole("heads", "Number of heads of the model."),
        *ITEMS,
        number("intact", "The measure with all heads, in the unit."),
        number("value", "The measure with the gates, in the unit."),
        number("cost", "Intact minus value, in the unit.", None, "ci"),
        *ends("ci", "the cost"),
    ),
    _check_left,
)

TERMS: Final = {
    **GATE,
    "learned gates": "Hard-Concrete gates (Louizos et al. 2018; Voita et al. 2019, section 6: temperature 0.33, "
    "stretched to (−0.1, 1.1)), learned on one half of the documents and evaluated on the other. An open head costs "
    "the price, in the unit of the behaviour, so a head stays about where it is worth more than its price together "
    "with the others. A gate between 0 and 1 weakens its head.",
}


class GatesMeasure(BehaviourMeasure):
    """Gates of heads that are learned and pay for being open (Louizos et al. 2018; Voita et al. 2019, section 6)."""

    name = "gates"
    title = "Learned gates of heads"
    place = 128
    tables = {"gates": GATES, "gate_paths": PATHS}
    methods = (
        Method(
            "Gates with a price for being open (Louizos et al. 2018; Voita et al. 2019) were learned for "
            "{behaviours} on one half of at most {items} items, in {steps} steps at a rate of {rate}, at prices of "
            "{prices}; weights trained along: {weights}.",
            title="Learned gates",
        ),
    )

    items: int = Field(default=500, ge=4)
    "Sentences, or pairs, at the most of each behaviour: gates are learned on one half, and told of on the other."
    prices: tuple[float, ...] = Field(default=(0.003, 0.01, 0.03, 0.1), min_length=1)
    "What an open head costs, in the unit of the behaviour; gates are learned anew for each."
    steps: int = Field(default=300, ge=1)
    "Batches that gates are learned on."
    rate: float = Field(default=0.1, gt=0)
    "Learning rate of the gates' log-odds."
    weights: bool = False
    "Whether the weights of a model of the BERT family are trained along, on behaviours of its masked-LM head."
    weights_rate: float = Field(default=1e-4, gt=0)
    "Learning rate of the weights, where they are."

    @model_validator(mode="after")
    def _prices(self) -> Self:
        if min(self.prices) < 0 or len(set(self.prices)) < len(self.prices):
            raise ValueError("prices: expected different numbers of 0 or more")
        return self

    def wanted(self, run: RunContext) -> bool:
        """Return whether behaviours are named; raises BehaviourError where weights cannot be trained along."""
        if not self.behaviours:
            return False
        from mha.encoder.encoder import Encoder
        from probes.causal.behaviours import BehaviourError

        self.opened(run)
        if self.weights and (EMBEDDING in self.behaviours or not isinstance(run.lm.module, Encoder)):
            raise BehaviourError(
                "gates.weights: weights are trained along only of models of the BERT family with a masked-LM head, and "
                'not on "embedding"; leave them as they are (weights = false)'
            )
        return True

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the gate of every head at every price, and the behaviour with them."""
        from probes.causal.gates import gate_table, path_table
        from probes.causal.pruning import halves, taken

        gates: list[pd.DataFrame] = []
        paths: list[pd.DataFrame] = []
        for behaviour in self.opened(run):
            learned_on, told_of = (taken(behaviour, half) for half in halves(behaviour))
            for price in self.prices:
                found = self._learn(run, learned_on, price)
                told = (gate_table(found, told_of), path_table(found, told_of, run.effort))
                for frames, rows in zip((gates, paths), told, strict=True):
                    frames.append(rows.assign(price=price, weights=self.weights))
        return tables_of(gates=gates, gate_paths=paths)

    def _learn(self, run: RunContext, behaviour: Behaviour, price: float) -> Gated:
        from mha.causal.gates import GateSettings
        from probes.causal.gates import gate_heads

        settings = GateSettings(self.steps, self.rate, self.weights_rate, run.config.seed)
        step = run.counter(f"gates, {behaviour.name}, price {price:g}", self.steps)
        shape = (run.model.layers, run.model.heads)
        return gate_heads(behaviour, shape, price, settings, weights=self.weights, step=step)

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield of each behaviour what every price leaves."""
        every, paths = run.last("gates"), run.last("gate_paths")
        roles = _roles(run.scores)
        yield Paragraph(
            "Every head has a gate, a factor on its output. Gates are learned that pay a price for being open, to see "
            "which heads stay; the grid of all heads can be coloured by them. An item of a behaviour is a sentence, a "
            "minimal pair or a row."
        )
        for behaviour, rows in every.groupby("behaviour", sort=False):
            yield TableBlock(_prices(str(behaviour), rows, paths[paths["behaviour"] == behaviour]))
            yield from _last(rows, roles)
        yield Terms(TERMS.items())

    @classmethod
    def maps(cls, run: RunFolder) -> Iterator[HeadMap]:
        """Yield the gates of each behaviour and price, with the labels in which heads have a grade."""
        roles = _roles(run.scores)
        for _, rows in run.last("gates").groupby(["behaviour", "price"], sort=False):
            yield _map(rows, run, roles)


def _roles(scores: pd.DataFrame) -> dict[str, str]:
    """Return for each head that has a grade in labels the first of these, the largest margin first."""
    rows = scores[(scores["grade"] > 0) & (scores["split"] == "report")]
    rows = rows.sort_values("margin", ascending=False, kind="stable")
    found: dict[str, list[str]] = {}
    for name, probe, label in zip(rows["name"], rows["probe"], rows["label"], strict=True):
        labels = found.setdefault(str(name), [])
        if (told := f"{probe}: {label}") not in labels:
            labels.append(told)
    return {name: names(labels, ROLES) for name, labels in found.items()}


def _map(rows: pd.DataFrame, run: RunFolder, roles: Mapping[str, str]) -> HeadMap:
    behaviour, price = rows["behaviour"].iloc[0], rows["price"].iloc[0]
    return HeadMap.of(
        f"gates for {behaviour}, price {price:g}",
        rows,
        "gate",
        (run.layers, run.heads),
        group="effect",
        text=lambda row: f"{decimal(row['gate'])} · {roles.get(row['name'], 'no label')}",
        about=f"{(rows['gate'] > 0).sum()} heads open",
    )


PRICES: Final = (
    PATHS["price"].shown("Price", "row", write=lambda row: f"{row['price']:g}"),
    PATHS["measure"].shown("Measure", css="strong"),
    PATHS["left"].shown("Heads left", write=lambda row: f"{row['left']} of {row['heads']}"),
    PATHS["intact"].shown("All heads", write=lambda row: scale_of(row).value(row["intact"])),
    PATHS["value"].shown("With gates", write=lambda row: scale_of(row).value(row["value"])),
    PATHS["cost"].shown("Cost, 95 % interval", write=lambda row: cost_text(row)),
    PATHS["unit"].shown("Unit", write=lambda row: scale_of(row).unit),
)
"Of the table of what gates cost at every price, but for the names of the heads that are left."

SURVIVORS: Final = (
    GATES["name"].shown("Head", "row"),
    GATES["gate"].shown("Gate"),
    TextColumn("Grade in", lambda row: row["roles"], "text", "wrapping"),
)
"Of the table of heads that are left at the highest price."


def _survivors(gates: pd.DataFrame, price: float) -> pd.DataFrame:
    """Return the rows of the heads whose gate is not 0 at a price, the widest open first."""
    rows = gates[(gates["price"] == price) & (gates["gate"] > 0)]
    return rows.sort_values(["gate", "open", "layer", "head"], ascending=[False, False, True, True], kind="stable")


def _prices(behaviour: str, gates: pd.DataFrame, path: pd.DataFrame) -> TextTable:
    how = "along with the weights of a copy" if gates["weights"].any() else "with the weights as they are"
    rows = path.sort_values(["price", "measure"], ascending=[True, False]).to_dict("records")

    def left(row: Row) -> str:
        return names(_survivors(gates, row["price"])["name"].tolist(), MOST)

    columns = (*PRICES, TextColumn("Which", left, "text", "wrapping heads"))
    return TextTable.of(f"{behaviour}: gates learned {how}", columns, rows)


def _last(gates: pd.DataFrame, roles: Mapping[str, str]) -> Iterator[Block]:
    open_ones = gates[gates["gate"] > 0]
    if open_ones.empty:
        return
    price = open_ones["price"].max()
    rows = _survivors(gates, price).head(2 * MOST)
    told = rows.assign(roles=[roles.get(name, "no grade in a label of this run") for name in rows["name"]])
    title = f"The {len(rows)} head{'s' * (len(rows) > 1)} left at a price of {price:g}, and what they attend to"
    yield Fold(title, [TableBlock(TextTable.of(title, SURVIVORS, told.to_dict("records")), caption=False)])

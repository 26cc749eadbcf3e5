"""Do the heads that look at something matter for it? What a page tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pandas as pd

from reports.formats import MISSING, decimal, names
from reports.run.folder import RunFolder
from reports.studies.link.tables import LINK as LINK_TABLE
from reports.studies.link.tables import VERDICTS
from reports.tables.cells import Cell, TextColumn
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

BOTH, ATTENDS, EFFECT, NEITHER, UNKNOWN = VERDICTS

MEASURES: Final[Mapping[str, str]] = {
    "accuracy": "accuracy in the role",
    "mass": "attention to the correct word",
    "write_norm": "write norm",
    "importance": "gradient importance",
    "patching": "restored by patching",
    "transfer": "transfer",
    "cost": "cost of ablation",
}
"Column -> what a page calls it."

COMPARED: Final = (
    ("accuracy", "cost"),
    ("mass", "cost"),
    ("write_norm", "cost"),
    ("importance", "cost"),
    ("patching", "cost"),
    ("transfer", "cost"),
    ("accuracy", "importance"),
)
"The pairs of measures whose correlation is told; the table in the run folder has all."

SHOWN: Final = 12
"Heads that a table has of a role at the most: those that look first, then those that matter, then the costliest."

LINK: Final[Sequence[tuple[str, str]]] = (
    ("Attends", "The head has a grade in a label of the role's probe, in this direction."),
    (
        "Effect",
        "Without the head (ablated in the first way that [ablation] names) the behaviour is significantly worse: p "
        "of a paired test by cluster, corrected over all heads, below alpha of [verdict]. A sentence embedding moves "
        "whichever head is ablated: there the cost is significantly above that of the median head. Heads without which "
        "the behaviour is better have no effect in this sense.",
    ),
    (
        "Cost",
        "What the behaviour loses without the head, in its own unit: nats per masked word piece for the loss, nats "
        "between the correct and the incorrect sentence for minimal pairs, cosine for the embedding of a sentence.",
    ),
    (
        "Transfer",
        "The log-odds of the correct verb form, in nats, with the head’s output at the verb of another sentence with "
        "the same answer, less those with that of a sentence with the other answer. A head can attend and have an "
        "effect, and its output still serve its own sentence alone (arXiv 2606.08292). Only pairs of agreement and "
        "models with a masked-LM head have it, where [transfer] names the behaviour.",
    ),
    (
        "Correlation",
        "Spearman's rho over the heads of the model, with an interval over resamples of heads. Heads that attend "
        "need not have an effect, and heads with an effect need not attend: the correlation measures how often they "
        "are the same.",
    ),
)


HEADS: Final = LINK_TABLE.text_columns(
    LINK_TABLE["name"].shown("Head", "row"),
    *("verdict", "accuracy", LINK_TABLE["margin"].shown(unit=False), "write_norm", "importance", "patching"),
    LINK_TABLE["transfer"].shown(),
    LINK_TABLE["transfer"].shown_interval(),
    LINK_TABLE["transfer_significant"].shown("Transfers"),
    LINK_TABLE["cost"].shown(css="strong"),
    LINK_TABLE["cost"].shown_interval(),
    "p_adjusted",
)
"Of the table of a role’s heads."


@dataclass(frozen=True)
class Correlation:
    """How alike two measures order the heads."""

    rho: float
    low: float
    high: float

    @property
    def cell(self) -> Cell:
        """Rho with its interval beside it."""
        return Cell(decimal(self.rho), self.interval)

    @property
    def interval(self) -> str:
        """The interval; "" where it was not measured."""
        return f"[{decimal(self.low)}, {decimal(self.high)}]" if self.low == self.low else ""


@dataclass(frozen=True)
class LinkedRole:
    """One role, and the behaviour that it should matter for."""

    behaviour: str
    probe: str
    label: str
    variant: str
    verdicts: Mapping[str, Sequence[str]]
    "Verdict -> names of its heads, the costliest first."
    heads: Sequence[Mapping[Any, Any]]
    "Rows of the table, SHOWN at the most."
    correlations: Mapping[str, Correlation]
    "Pair of measures, as `Linked.compared` names it -> correlation over heads."
    rows: pd.DataFrame
    "Of every head."

    @property
    def role(self) -> str:
        """Probe, label and variant."""
        return f"{self.probe}, {self.label} ({self.variant})"

    @property
    def title(self) -> str:
        """Role and behaviour."""
        return f"{self.role}, and {self.behaviour}"

    @property
    def shown(self) -> TextTable:
        """Heads that attend, then those with an effect, then those that cost most, with their numbers."""
        return TextTable.of(
            "Heads that attend, then those with an effect, then those that cost most", HEADS, self.heads
        )

    def named(self, verdict: str) -> str:
        """Return the names of the heads of a verdict."""
        return names(self.verdicts[verdict], 6)

    @property
    def rest(self) -> str:
        """How many heads do neither, and of how many it is not known."""
        neither, unknown = len(self.verdicts[NEITHER]), len(self.verdicts[UNKNOWN])
        return f"{neither}" + f", and {unknown} not known" * bool(unknown)


def _correlation(pair: str, role: LinkedRole) -> str | Cell:
    found = role.correlations.get(pair)
    return found.cell if found else MISSING


ROLES: Final = (
    TextColumn("Role", lambda role: role.role, "row"),
    LINK_TABLE["behaviour"].shown(),
    TextColumn("Attends, with effect", lambda role: role.named(BOTH), "text"),
    TextColumn("Attends, no effect", lambda role: role.named(ATTENDS), "text"),
    TextColumn("Effect without attention", lambda role: role.named(EFFECT), "text"),
    TextColumn("Neither", lambda role: role.rest, "text"),
)
"Of the table of roles."


@dataclass(frozen=True)
class Linked:
    """What a page tells of all roles."""

    roles: Sequence[LinkedRole]
    compared: Sequence[str]
    "What is correlated, of those COMPARED that were measured for some role."

    @property
    def table(self) -> TextTable:
        """The heads of every verdict by role."""
        return TextTable.of("Heads that attend and heads with an effect, the costliest first", ROLES, self.roles)

    @property
    def correlations(self) -> TextTable:
        """How alike measures order the heads, by role."""
        columns = [TextColumn(pair.capitalize(), partial(_correlation, pair)) for pair in self.compared]
        title = "Agreement of measures on the order of heads, Spearman’s rho with its 95 % interval"
        return TextTable.of(title, (ROLES[0], *columns), self.roles)

    @property
    def summary(self) -> str:
        """How many heads of all roles attend and have an effect, in two sentences."""
        both, attends, hurts = (sum(len(role.verdicts[one]) for role in self.roles) for one in (BOTH, ATTENDS, EFFECT))
        roles = f"{len(self.roles)} role{'s' * (len(self.roles) > 1)}"
        return (
            f"Over {roles} (a label and direction with its behaviour; a head counts once for each) heads attend in "
            f"{both + attends} head–role pairs; in {both} of these ablating the head has a significant effect. In "
            f"{hurts} pair{'s' * (hurts != 1)} it has one although the head does not attend."
        )


def linked_heads(run: RunFolder) -> Linked | None:
    """Return what the page says; None where the run has no role with its behaviour."""
    table = run.studies.get("link")
    if table is None or table.empty:
        return None
    table, correlations = last_step(table), run.studies.get("link_correlations")
    key = ["behaviour", "probe", "label", "variant"]
    roles = [
        _role([str(part) for part in role], rows, _of_role(correlations, key, role))
        for role, rows in table.groupby(key, sort=False)
    ]
    compared = [pair for pair in map(_pair, COMPARED) if any(pair in role.correlations for role in roles)]
    return Linked(roles, compared)


def _pair(pair: tuple[str, str]) -> str:
    return f"{MEASURES[pair[0]]} and {MEASURES[pair[1]]}"


def _of_role(correlations: pd.DataFrame | None, key: Sequence[str], role: Any) -> pd.DataFrame:
    if correlations is None:
        return pd.DataFrame()
    found = last_step(correlations)
    return found[(found[list(key)] == list(role)).all(axis=1)]


def _role(role: Sequence[str], rows: pd.DataFrame, correlations: pd.DataFrame) -> LinkedRole:
    costly = rows.sort_values(["cost", "layer", "head"], ascending=[False, True, True], kind="stable")
    verdicts = {verdict: costly.loc[costly["verdict"] == verdict, "name"].tolist() for verdict in VERDICTS}
    rank = costly["verdict"].map({BOTH: 0, ATTENDS: 1, EFFECT: 2}).fillna(3)
    heads = costly.assign(rank=rank).sort_values("rank", kind="stable").head(SHOWN).to_dict("records")
    found = {
        _pair(pair): Correlation(row["rho"], row["low"], row["high"])
        for row in correlations.to_dict("records")
        if (pair := (str(row["one"]), str(row["other"]))) in COMPARED
    }
    behaviour, probe, label, variant = role
    return LinkedRole(behaviour, probe, label, variant, verdicts, heads, found, rows)

"""Ablation: what a model does without single heads, whole layers, and the heads that probes select."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from experiments.config.section import BehaviourNames
from experiments.run.measure import Frames, Measure, Read
from probes.registry import get_probe
from reports.blocks.block import Block, Fold, Heading, HeadMap, Paragraph, Points, TableBlock, Terms
from reports.formats import count, decimal, names, p_value
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.effects import (
    Row,
    behaviour_text,
    cost_text,
    deciding,
    highest,
    is_distance,
    of_single_heads,
    scale_of,
    significant,
)
from reports.scores.verdicts import Verdicts
from reports.tables.cells import Cell, TextColumn, columns_of
from reports.tables.effects import ABLATION_CONTRASTS, ABLATIONS, SELECTED_BY
from reports.tables.shared_columns import LEVEL, SCORE, VALUE
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.behaviours import Weighed
    from experiments.run.context import RunContext
    from experiments.run.scope import Scored
    from probes.causal.ablation import HeadSet

INTERCHANGE: Final = "interchange"
"The way that `probes.causal.ablation` calls so: single heads have none."

COSTLY, HELPING = 8, 4
"Heads that a table has at the most: of those that cost most, and of those without which the model surely does better."

SHOWN: Final = 3
"Comparisons with random heads that the first screen tells in full."

TERMS: Final = {
    "Ablated": "What stands in the place of a head's output, before W_O. zero: nothing (Michel et al. 2019). uniform: "
    "what it would write if it attended to all tokens alike (Kovaleva et al. 2019). mean: its mean over all tokens of "
    "the texts of the behaviour; mean by position: over those at the same position. resample: its output on another "
    "text of like length. The ways differ: an output far from all that the model has seen in training can do harm of "
    "its own. interchange: heads of a label, or random ones, mix their values by each other’s attention; heads that "
    "attend to the same words lose less by it than random ones.",
    "Cost": "By how much the model does worse without the heads: value with all heads less value without them, item by "
    "item. Below 0 the model does better without them. The 95 % interval is paired, of a bootstrap over documents or "
    "templates; of an accuracy it is Student's t by document, with one more answer at either end (Agresti and Min "
    "2005).",
    "Behaviours": "masked-LM loss: log-probability of masked word pieces, in nats a piece. Minimal pairs: by how many "
    "nats the correct sentence is preferred to the incorrect one, and the share of pairs in which it is. Sentence "
    "embedding: cosine of the mean of the last vectors with what it is with all heads. Labels of a file: the log- "
    "probability that the model's classifier head gives to the gold label (minus the log-loss), the share of labels "
    "that are its most probable ones (ties in part), and the logit of the gold label less the mean of the others; of a "
    "regression head minus the squared error. A head's name with a label: the accuracy of that head while heads below "
    "it are ablated.",
    "Corrected p": "Two-sided p (heads can help and hurt) of a t test by cluster that allows for skewed costs (Hall "
    "1992), corrected for all heads of the behaviour (Holm 1979). Where most clusters gain a little and few lose "
    "much, a cost below 0 is still significant too often. A sentence embedding can only move away from what it was, "
    "so there a head is tested against the median head of each text, and a small p means that it costs more than that "
    "one.",
    "Selected against random": "Heads that a label of a probe selects are ablated together, and as many random heads "
    "of the same layers, repeatedly. With top = 0 in [ablation] they are those with a stable grade, which is of the "
    "report split: masked-LM loss and embedding are measured on sentences of that split too, so there selection and "
    "test share texts; with top above 0 heads are selected on the other split. p is the share of these sets, the "
    "selected one among them, that cost at least as much: with 20 draws it cannot be below 1/21. Significantly more "
    "means that p is below 0.05 and the interval of the difference lies above 0; no p is corrected for the number of "
    "contrasts.",
}


class AblationMeasure(Measure):
    """What the model does without some of its heads: every head, every layer, and heads that the probes select."""

    name = "ablation"
    title = "Ablation"
    place = 120
    tables = {"ablations": ABLATIONS, "ablation_contrasts": ABLATION_CONTRASTS}
    methods = (
        Method(
            "Every head was ablated (by: {ways}), and whole layers: {layers}. What the model loses was measured on "
            "at most {items} items of each behaviour: {behaviours}; tests by document are corrected over all sets of "
            "a kind."
        ),
        Method(
            "The heads of a label (labels: {labels}; heads a label: {top}, where 0 stands for those with a stable "
            "grade) were ablated together and compared with {draws} sets of as many random heads of the same layers.",
            title="Selected heads against random heads",
            tables=("ablation_contrasts",),
        ),
    )

    switch = "behaviours"
    more_switches = ("downstream",)

    behaviours: BehaviourNames = ()
    """"loss" and "embedding", on sentences of the report split, minimal pairs as in [behaviour], and files of labelled
    rows (`probes.causal.labels`), which the model's own classifier decides; "loss" and pairs take a model with a
    masked-LM head. Nothing is switched off where nothing is said."""
    ways: tuple[Literal["zero", "uniform", "mean", "mean by position", "resample", "interchange"], ...] = Field(
        default=("zero",), min_length=1
    )
    """What stands in the place of a head, see `probes.causal.ablation.WAYS`; "interchange", not as the first, exchanges
    the attention of the heads of each label, and of as many random heads, where a label has two or more."""
    layers: bool = True
    "Whether whole layers are switched off as well."
    items: int = Field(default=500, ge=2)
    "Sentences, pairs or rows at the most of each behaviour."
    labels: tuple[str, ...] = ()
    """Labels ("probe: label", or "probe" for any of its labels) whose heads are switched off together and held against
    random heads; where nothing is said those that match a behaviour (`probes.causal.attention_vs_effect.ROLES`)."""
    top: int = Field(default=0, ge=0)
    """Heads of a label: that many with the largest margins on the selection split, in any variant; 0 for those that
    have a stable grade, or the one with the largest margin where there is none."""
    draws: int = Field(default=20, ge=0)
    "Sets of random heads that the heads of a label are held against; 0 for no such contrast."
    downstream: int = Field(default=0, ge=0)
    """Labels of sentences, and of windows, those with the most items, whose best head's accuracy is a behaviour too:
    heads below it are switched off. Attention is read, whatever maps are scored."""

    @model_validator(mode="after")
    def _once(self) -> Self:
        for way in self.ways:
            if self.ways.count(way) > 1:
                raise ValueError(f"way {way!r} is named twice")
        if self.ways[0] == INTERCHANGE:
            raise ValueError("interchange ablates no single head: name another way before it")
        for label in self.labels:
            probe, colon, name = label.partition(": ")
            if bool(colon) != bool(name):
                raise ValueError(f'label {label!r}: expected "probe: label", such as "agreement: all", or "agreement"')
            get_probe(probe)
        return self

    def wanted(self, run: RunContext) -> bool:
        """Return whether behaviours are named, or accuracies downstream; raises where one cannot be opened."""
        from experiments.run.behaviours import Behaviours

        if asked := bool(self.behaviours or self.downstream):
            Behaviours.of(run, self.behaviours, self.items)
        return asked

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return what every set of heads costs, and the chosen heads against random ones."""
        from probes.causal.ablation_table import ablation_table, contrast_table, joined

        scores, costs, contrasts = run.verdicts(read.frames), [], []
        for one, labels in self._behaviours(run, read.parts):
            sets = self._sets(run, one, scores, labels)
            some = [every for every in sets if every.kind not in ("head", "layer") and len(every.heads) > 1]
            for way in self.ways:
                if not (chosen := some if way == INTERCHANGE else sets):
                    run.note(f"ablation: no label has two heads to be exchanged for {one.behaviour.name}; see top")
                    continue
                values = one.without([every.heads for every in chosen], way)
                costs.append(ablation_table(one.behaviour, way, chosen, values, run.effort))
                contrasts.append(contrast_table(one.behaviour, way, chosen, values, run.effort))
        return {name: joined(of, self.tables[name]) for name, of in zip(self.tables, (costs, contrasts), strict=True)}

    def _behaviours(self, run: RunContext, parts: Sequence[Scored]) -> Iterator[tuple[Weighed, Sequence[str]]]:
        """Yield every behaviour, and the labels whose heads should matter for it."""
        from experiments.run.behaviours import Behaviours, downstream
        from probes.causal.attention_vs_effect import ROLES

        for one in Behaviours.of(run, self.behaviours, self.items).weighed():
            own = tuple(role.selects for role in ROLES if one.behaviour.name in role.behaviours)
            yield one, self.labels or own
        for part in parts if self.downstream else ():
            for one in downstream(run, part, self.downstream, self.items):
                yield one, ()

    def _sets(self, run: RunContext, one: Weighed, scores: pd.DataFrame, labels: Sequence[str]) -> list[HeadSet]:
        """Return what is switched off."""
        from probes.causal.ablation import against_random, choose_heads, random_sets, single_heads, whole_layers

        shape = one.shape
        sets = single_heads(*shape) + (whole_layers(*shape) if self.layers else [])
        for label in labels if self.draws else ():
            chosen, by = choose_heads(scores, label, self.top)
            drawn = random_sets(chosen, shape, self.draws, (run.config.seed,))
            if not drawn:
                many = f"{len(chosen)} of {shape[0] * shape[1]} heads are selected" if chosen else "no head is selected"
                run.note(f"ablation: {many} by {label}, so none are compared with random ones")
                continue
            sets += against_random(label, chosen, by, drawn)
        return sets

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield what selected heads cost, tables of each behaviour, and all comparisons."""
        costs, contrasts = run.last("ablations"), run.last("ablation_contrasts")
        yield Paragraph(
            "The model reads the same texts with some of its heads ablated. Cost is by how much it does worse without "
            "them; below 0 it does better. The grid of all heads can be coloured by it."
        )
        if held := _of_first_way(costs, contrasts):  # of a behaviour and label the last measure is the most telling
            yield Points([*map(_sentence, {(row["behaviour"], row["name"]): row for row in held}.values())])
        for behaviour, rows in costs.groupby("behaviour", sort=False):
            yield Heading(str(behaviour))
            yield from _of_behaviour(rows[rows["way"] != INTERCHANGE])
        if len(contrasts):
            table = TextTable.of("Selected heads against random heads", COMPARED, _rows(contrasts))
            yield Heading(table.title)
            yield TableBlock(table, caption=False)
        yield Terms(TERMS.items())

    @classmethod
    def maps(cls, run: RunFolder) -> Iterator[HeadMap]:
        """Yield what each behaviour loses without a head, by every way and measure."""
        costs = run.last("ablations")
        for _, rows in costs[costs["kind"] == "head"].groupby(["behaviour", "way", "measure"], sort=False):
            yield _map(rows, (run.layers, run.heads))

    @classmethod
    def effects(cls, run: RunFolder, verdicts: Verdicts) -> Iterator[str]:
        """Yield how selected heads compare with random ones; where none do, how many single heads cost something."""
        costs = run.last("ablations")
        if held := _of_first_way(costs, run.last("ablation_contrasts")):
            yield from _compared(held)
        else:
            firsts = (_groups(rows)[0] for _, rows in costs.groupby("behaviour", sort=False))
            yield from map(of_single_heads, firsts)

    @classmethod
    def without(cls, run: RunFolder, head: str) -> str:
        """Return what the first behaviour loses without a head."""
        costs = run.last("ablations")
        first = costs["behaviour"] == costs["behaviour"].iloc[0]
        own = deciding(costs[first & (costs["kind"] == "head") & (costs["name"] == head)])
        return f"Ablated alone, it {_effect(own.iloc[0])}." if len(own) else ""


def _of_first_way(costs: pd.DataFrame, contrasts: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the comparisons with random heads; of a score of one's own its own alone."""
    if contrasts.empty:
        return []
    behaviours = contrasts[contrasts["way"] == costs["way"].iloc[0]].groupby("behaviour", sort=False)
    return [row for _, of in behaviours for row in _rows(deciding(of) if (of["unit"] == SCORE).any() else of)]


def _groups(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the parts of a behaviour that are told: what decides, other measures of its way, and it in other ways."""
    ways = [of for _, of in deciding(rows).groupby("way", sort=False)]
    one = ways[0].iloc[0]
    beside = rows[(rows["way"] == one["way"]) & (rows["measure"] != one["measure"])]
    return [ways[0], *(of for _, of in beside.groupby("measure", sort=False)), *ways[1:]]


def _map(rows: pd.DataFrame, shape: tuple[int, int]) -> HeadMap:
    one, scale = rows.iloc[0], scale_of(rows.iloc[0])
    return HeadMap.of(
        f"effect: loss of {behaviour_text(one)} without the head ({one['way']})",
        rows,
        "cost",
        shape,
        unit=scale.unit,
        factor=scale.factor,
        group="effect",
        text=lambda row: f"{cost_text(row)} {scale.unit} · corrected p {p_value(row['p_adjusted'])}",
        marked=(rows["p_adjusted"] < LEVEL).tolist(),
        about=f"with all heads {scale.value(one['intact'])} ({one['unit']}) · n\u00a0{count(int(one['n']))} · "
        f"clusters\u00a0{count(int(one['clusters']))}",
    )


def _of_behaviour(rows: pd.DataFrame) -> Iterator[Block]:
    groups = _groups(rows)
    first, heads, layers = (groups[0], *(groups[0][groups[0]["kind"] == kind] for kind in ("head", "layer")))
    yield Paragraph(of_single_heads(first))
    ordered = highest(heads)
    chosen = pd.concat([ordered.head(COSTLY), significant(ordered)[1].tail(HELPING)]).drop_duplicates("name")
    also = "" if is_distance(first.iloc[0]) else ", then those without which the model is significantly better"
    title = f"The heads that cost most{also} (way: {first['way'].iloc[0]}); 95 % intervals"
    titles, costs = _columns(groups)
    told = [
        (row["name"], cost_text(row), p_value(row["p_adjusted"]), *(one[row["name"]] for one in costs[1:]))
        for row in _rows(chosen)
    ]
    yield TableBlock(TextTable.of(title, columns_of(("Head", titles[0], "Corrected p", *titles[1:])), told))
    if len(layers):
        of_layers = [(name, *(one[name] for one in costs)) for name in layers["name"]]
        table = TextTable.of("Whole layers", columns_of(("Layer", *titles)), of_layers)
        yield Fold(table.title, [TableBlock(table, caption=False)])
    values = deciding(rows[rows["kind"] == "head"])
    ranks = {str(way): of.set_index("name")["cost"].rank() for way, of in values.groupby("way", sort=False)}
    alike = [f"{one} and {other} {decimal(ranks[one].corr(ranks[other]))}" for one, other in combinations(ranks, 2)]
    if alike:
        said = f"Agreement of the ways of ablation, Spearman’s correlation of costs over heads: {'; '.join(alike)}."
        yield Paragraph(said, note=True)


def _columns(groups: Sequence[pd.DataFrame]) -> tuple[list[str], list[dict[str, str]]]:
    titles, first = [], groups[0]["way"].iloc[0]
    for group in groups:
        one, unit = group.iloc[0], scale_of(group.iloc[0]).unit
        what = ("Cost", unit) if one["measure"] == VALUE else (one["measure"], "points" * (unit == "percentage points"))
        titles.append(", ".join(filter(None, (what[0], "" if one["way"] == first else one["way"], what[1]))))
    return titles, [{row["name"]: cost_text(row) for row in _rows(group)} for group in groups]


def _rows(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    return frame.to_dict("records")


def _more(row: Row) -> bool:
    return bool(row["p"] < LEVEL and row["ci_low"] > 0)


def _difference(row: Row) -> str:
    return scale_of(row).with_interval(row["difference"], row["ci_low"], row["ci_high"])


def _random(row: Row) -> str:
    told = scale_of(row).cost
    return f"{told(row['random_cost'])} ({told(row['random_least'])} to {told(row['random_most'])})"


COMPARED: Final = (
    TextColumn("Behaviour", behaviour_text, "row"),
    ABLATION_CONTRASTS["way"].shown(css="muted"),
    TextColumn("Label", lambda row: Cell(row["name"], f"({row['by']})", quiet="muted"), "text"),
    TextColumn("Heads", lambda row: names(row["heads"].split()), "text", "wrapping heads"),
    TextColumn("Cost", lambda row: scale_of(row).cost(row["cost"])),
    TextColumn("Random heads (range)", _random),
    TextColumn("Difference, 95 % interval", lambda row: Cell(_difference(row), css="up" if _more(row) else "")),
    TextColumn("Unit", lambda row: scale_of(row).unit, "text", "muted"),
    ABLATION_CONTRASTS["p"].shown(),
    ABLATION_CONTRASTS["elsewhere"].shown("Of other layers"),
)
"Of the table of selected heads against random ones."


def _sentence(row: Row) -> str:
    heads, scale, p = row["heads"].split(), scale_of(row), f"p = {p_value(row['p'])}".replace("= <", "<")
    some = f"the {len(heads)} heads" if len(heads) > 1 else "the one head"
    largest = f"with the largest margin{'s' * (len(heads) > 1)} on"
    why = "significant in" if row["by"] == SELECTED_BY[0] else largest
    other = f", {row['elsewhere']} of them of other layers, for theirs have too few" if row["elsewhere"] else ""
    return (
        f"{behaviour_text(row)}: without {some} {why} {row['name']} ({names(heads, 8)}) the model loses "
        f"{scale.cost(row['cost'])} {scale.unit} (way: {row['way']}), without as many random heads of the same "
        f"layers{other} {scale.cost(row['random_cost'])} on average over {row['draws']} draws. That is "
        f"{'' if _more(row) else 'not '}significantly more (difference {_difference(row)}, {p})."
    )


def _compared(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how often selected heads cost more than random ones, and the first such comparisons."""
    several = "; several may be measures of one ablation" * (len(rows) > 1)
    yield (
        "Ablated together, the heads of a label cost significantly more than as many random heads of the same layers "
        f"in {sum(map(_more, rows))} of {len(rows)} comparison{'s' * (len(rows) > 1)} (p < 0.05, not "
        f"corrected{several})."
    )
    for row in rows[:SHOWN]:
        heads, scale = len(row["heads"].split()), scale_of(row)
        yield (
            f"{behaviour_text(row)}: ablating {'the head' if heads == 1 else f'the {heads} heads'} of {row['name']} "
            f"{'moves it by' if is_distance(row) else 'costs'} {scale.cost(row['cost'])} {scale.unit}, random heads "
            f"{scale.cost(row['random_cost'])}; difference {_difference(row)}."
        )
    if len(rows) > SHOWN:
        yield f"The other {len(rows) - SHOWN} comparisons are in the section Ablation."


def _effect(row: Row) -> str:
    told, title = f"{cost_text(row)} {scale_of(row).unit}", behaviour_text(row)
    if is_distance(row):
        surely = "significantly" if row["p_adjusted"] < LEVEL else "not significantly"
        return f"moves the {title} by {told}, {surely} more than the median head does"
    if not row["p_adjusted"] < LEVEL:
        return f"does not significantly change the result on {title} (cost {told})"
    return f"significantly {'worsens' if row['cost'] > 0 else 'improves'} the result on {title} (cost {told})"

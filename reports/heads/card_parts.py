"""The parts of a head's card: what it is best at, what it is near to, what it does on sentences.

A part is a function of `reports.heads.card.FIRST`, which reads one table of a run; a run without the table has no such
part.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pandas as pd

from reports.formats import MISSING, decimal, interval, minus, names, percent, signed, signed_interval, yes_or_no
from reports.heads.examples import shown_text, strongest_candidates
from reports.heads.role_marks import RoleName
from reports.run.folder import RunFolder
from reports.scores.best_heads import (
    CLASSIFIER,
    BestHead,
    best_head,
    layer_attention,
    leaders,
    page_scores,
    run_best_heads,
)
from reports.scores.plain_names import baseline_name, role, role_name
from reports.scores.thresholds import RunThresholds, run_thresholds
from reports.tables.biographies import LIFE_SHOWN
from reports.tables.grades import has_stable_grade, is_borderline, is_of_language, own_labels

MOST: Final = 8
"Roles that a card tells."

NEAREST: Final = 3
"Nearest heads that a card tells, and labels of a head that one line tells."

ROLE_COLUMNS: Final = (
    *("the head attends", "accuracy, %", "interval", "strongest baseline, %", "significant"),
    *("label", "direction", "margin, points", "interval", "grade"),
)
"What a card tells of a role."

ROLE_FOLDED: Final = 5
"How many of these columns are folded."

ROLE_READ: Final = (
    *("corpus", "probe", "label", "variant", "layer", "head", "name", "n", "effective_clusters"),
    *("accuracy", "ci_low", "ci_high", "baseline", "baseline_accuracy", "lexical_accuracy", "rule", "rule_accuracy"),
    *("margin", "margin_low", "margin_high", "p_adjusted", "grade", "holds", "specialised", "selected"),
)
"The columns of the scores that tell a role."

_LABEL: Final = ["probe", "label"]


Row = dict[Any, Any]
"Of a table."


@dataclass(frozen=True)
class CardPart:
    """One part of a card: sentences, and a table that may be empty."""

    title: str
    sentences: tuple[str, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    folded: int = 0
    "How many of the last columns a page shows only where one asks for all."


@dataclass(frozen=True)
class CardSource:
    """What the parts of cards read: a run, and what several of them need of it."""

    run: RunFolder

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The rows of the report split that a page shows and that have a margin, but for trained classifiers.

        First those in which a head has a stable grade: those that the first screen names, then linguistic roles, pooled
        labels and slices of others after them, and positions; of these the surest margins first.
        """
        rows = page_scores(self.run.scores)[0]
        kept = (rows["split"] == "report") & (rows["probe"] != CLASSIFIER) & rows["margin"].notna()
        rows = rows.loc[kept, [*ROLE_READ]]
        labels, keys = (pd.MultiIndex.from_frame(rows[key]) for key in (_LABEL, [*_LABEL, "variant", "name"]))
        order: dict[str, Any] = {
            "graded": has_stable_grade(rows),
            "named": keys.isin([(row.probe, row.label, row.variant, row.name) for row in self.named]),
            "spoken": is_of_language(rows),
            "own": labels.isin(own_labels(labels.unique())),
        }
        by = [*order, "margin_low", "label"]
        return rows.assign(**order).sort_values(by, ascending=[False] * 5 + [True], kind="stable")

    @cached_property
    def named(self) -> Sequence[BestHead]:
        """The rows of the first screen."""
        return leaders(run_best_heads(self.run.scores))

    @property
    def finding(self) -> BestHead | None:
        """Of these the first with a significant head, or the first; None where nothing was selected."""
        return next((row for row in self.named if row.grade), next(iter(self.named), None))

    @cached_property
    def rule(self) -> RunThresholds:
        """The rule by which the run grades heads."""
        return run_thresholds(self.run)

    @cached_property
    def by_head(self) -> Mapping[str, Sequence[Row]]:
        """The same by the name of the head."""
        return _by_head(self.rows)

    @cached_property
    def surest(self) -> pd.DataFrame:
        """The first row of every head: its main role, where it has one."""
        return self.rows.drop_duplicates("name")

    @property
    def main_rows(self) -> list[BestHead]:
        """The same of all heads by layer and head; missing numbers where nothing was tested in one."""
        known = {row["name"]: row for row in self.surest.to_dict("records")}
        heads = self.run.scores[["layer", "head", "name"]].drop_duplicates().sort_values(["layer", "head"])["name"]
        return [best_head(known.get(name, {"name": name})) for name in heads]

    @cached_property
    def layer_attention(self) -> Mapping[int, str]:
        """Layer, counted from 0 -> whether it is local or global; {} where all are global or that is not known."""
        return layer_attention(self.run.scores)

    @cached_property
    def main_roles(self) -> Mapping[str, str]:
        """The label of each head's main role, of heads that are significant in any."""
        return {name: label for name, (_, label) in main_roles(self.rows).items()}

    @cached_property
    def _tables(self) -> dict[str, Mapping[str, Sequence[Row]]]:
        """Those of the run's measures that were asked for, by the name of the head."""
        return {}

    def of_head(self, table: str, name: str) -> Sequence[Row]:
        """Return the rows of a head in a table of the run's measures; none where the run has no such table."""
        if table not in self._tables:
            self._tables[table] = _by_head(self.run.tables.get(table, pd.DataFrame()))
        return self._tables[table].get(name, ())


def _by_head(table: pd.DataFrame) -> Mapping[str, Sequence[Row]]:
    """Return the rows of every head of a table, by its name."""
    found: dict[str, list[Row]] = {}
    for row in table.to_dict("records"):
        found.setdefault(row["name"], []).append(row)
    return found


def of_language(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of linguistic roles: those that can make a head specialised."""
    return rows[is_of_language(rows)]


def main_roles(rows: pd.DataFrame) -> dict[str, RoleName]:
    """Return the main role of each head that has one, by name, from rows in the order of `CardSource.rows`."""
    surest = rows.drop_duplicates("name")
    first = surest[surest["graded"]]
    return dict(zip(first["name"], zip(first["probe"], first["label"], strict=True), strict=True))


Part = Callable[[CardSource, str], CardPart | None]
"What makes a part of the card of a head of that name; None where the run does not tell it."


def roles(source: CardSource, name: str) -> CardPart | None:
    """In which labels the head is significantly above its baselines or selected: first the linguistic roles."""
    rows = source.by_head.get(name)
    if rows is None:
        return None
    noted = [row for row in rows if row["graded"] or row["selected"]]
    graded, selected = (sum(row[kind] for row in rows) for kind in ("graded", "selected"))
    tests = sum(row["p_adjusted"] == row["p_adjusted"] for row in rows)
    sentences = [f"Significant in {graded} of {tests} labels and directions; selected as the best head in {selected}."]
    if not noted:
        noted = [rows[0]]
        sentences.append("Where it comes nearest to that:")
    elif len(noted) > MOST:
        sentences.append(f"{MOST} of these {len(noted)}, linguistic roles first:")
    cells = tuple(_role(row, source.rule) for row in noted[:MOST])
    return CardPart("Roles", tuple(sentences), ROLE_COLUMNS, cells, ROLE_FOLDED)


def _role(row: Mapping[Any, Any], rule: RunThresholds) -> tuple[str, ...]:
    numbers = {key: float(str(value)) for key, value in row.items() if isinstance(value, float)}
    return (
        role(str(row["probe"]), str(row["label"]), str(row["variant"])),
        *(percent(numbers["accuracy"]), interval(numbers["ci_low"], numbers["ci_high"])),
        f"{percent(numbers['baseline_accuracy'])} ({baseline_name(str(row['baseline']))})",
        MISSING if numbers["p_adjusted"] != numbers["p_adjusted"] else _significant(row),
        *(f"{row['probe']}: {row['label']}", str(row["variant"])),
        *(signed(numbers["margin"]), signed_interval(numbers["margin_low"], numbers["margin_high"])),
        rule.grade(row) + (", selected" if row["selected"] else ""),
    )


def _significant(row: Mapping[Any, Any]) -> str:
    return "borderline" if is_borderline(row["grade"], row["holds"]) else yes_or_no(row["grade"] > 0)


def layer(source: CardSource, name: str) -> CardPart | None:
    """Whether the head's layer is local or global; nothing of a model all of whose layers are global."""
    number = int(name.split("-")[0])
    told = source.layer_attention.get(number - 1)
    return CardPart("Attention of the layer", (f"Layer {number} is {told}.",)) if told else None


def nearest(source: CardSource, name: str) -> CardPart | None:
    """The heads whose maps are nearest, with their main roles, and the head's group."""
    table, places = source.run.tables.get("distances"), source.run.tables.get("places")
    if table is None or places is None:
        return None
    pairs = table[(table["name"] == name) | (table["other"] == name)]
    if pairs.empty:
        return None
    others = pairs["other"].where(pairs["name"] == name, pairs["name"])
    ranked = pairs.assign(to=others).sort_values("distance", kind="stable").head(NEAREST)
    known = {name: role_name(*main) for name, main in main_roles(source.rows).items()}
    rows = tuple(
        (to, decimal(far), known.get(to, MISSING)) for to, far in zip(ranked["to"], ranked["distance"], strict=True)
    )
    group = int(places.loc[places["name"] == name, "group"].iloc[0])
    fellows = places.loc[(places["group"] == group) & (places["name"] != name), "name"].tolist()
    heads = "head" if len(fellows) == 1 else "heads"
    others_said = f"with {len(fellows)} other {heads}: {names(fellows, NEAREST)}" if fellows else "alone"
    text = f"Group {group} of {places['group'].nunique()}, {others_said}."
    mean = f"Its maps are {decimal(float(pairs['distance'].mean()))} nats from those of another head on average."
    return CardPart("Nearest heads", (text, mean), ("head", "distance, nats", "main role"), rows)


OVERLAPS: Final[Mapping[str, str]] = {
    "W_V": "what it reads (W_V), overlap",
    "W_O": "what it writes (W_O), overlap",
    "outputs": "its output vectors, linear CKA",
}
"What is compared in subspaces.parquet -> what it is."


def subspaces(source: CardSource, name: str) -> CardPart | None:
    """How much of its subspaces the head shares with the others, beside randomly initialised weights."""
    table = source.run.tables.get("subspaces")
    if table is None:
        return None
    pairs = table[(table["name"] == name) | (table["other"] == name)]
    rows = []
    for what, said in OVERLAPS.items():
        of_what = pairs[(pairs["what"] == what) & pairs["overlap"].notna()]
        own, fresh = (of_what[of_what["weights"] == weights] for weights in ("own", "random"))
        if len(own):
            top = own.iloc[int(own["overlap"].argmax())]
            most = f"{top['other'] if top['name'] == name else top['name']} ({decimal(float(top['overlap']))})"
            rows.append((said, decimal(own["overlap"].mean()), decimal(fresh["overlap"].mean()), most))
    columns = ("shared with another head", "mean", "with randomly initialised weights", "most with")
    return CardPart("Subspaces", (), columns, tuple(rows)) if rows else None


def ensembles(source: CardSource, name: str) -> CardPart | None:
    """The selected ensembles that the head is part of."""
    table = source.run.tables.get("ensembles")
    if table is None:
        return None
    chosen = table[table["selected"] & (table["size"] > 1)]
    rows = [row for row in chosen.to_dict("records") if name in str(row["heads"]).split()]
    columns = ("the heads attend", "heads", "accuracy, %", "gain over the first, points", "interval")
    cells = tuple(
        (
            *(role(str(row["probe"]), str(row["label"]), str(row["variant"])), str(row["heads"])),
            *(percent(row["accuracy"]), signed(row["gain"]), signed_interval(row["gain_low"], row["gain_high"])),
        )
        for row in rows
    )
    return CardPart("Ensembles", (), columns, cells) if cells else None


def examples(source: CardSource, name: str) -> CardPart | None:
    """What the head attends to in the sentences of the page."""
    found = source.run.examples[source.run.examples["name"] == name]
    rows = tuple(
        (str(arcs["label"].iloc[0]), shown_text(arcs.iloc[0]), "; ".join(strongest_candidates(arcs)))
        for _, arcs in found.groupby("example")
    )
    return CardPart("Examples", (), ("label", "sentence", "strongest candidate"), rows) if rows else None


SHAPES: Final[Mapping[tuple[str, str], str]] = {
    ("entropy", "all tokens"): "entropy of its rows, nats",
    ("entropy", "[CLS]"): "entropy of the row of [CLS], nats",
    ("confidence", "without [SEP]"): "confidence: mean of the largest weight, %",
    ("distance", "words"): "mean attended distance, words",
    ("attention", "[CLS]"): "attention to [CLS], %",
    ("attention", "[SEP]"): "attention to [SEP], %",
    ("attention", "punctuation"): "attention to punctuation, %",
}
"Kind and measure in shapes.parquet -> what it is."


def shape(source: CardSource, name: str) -> CardPart | None:
    """What the head's maps look like, whatever the words are."""
    rows = [row for row in source.of_head("shapes", name) if row["split"] == "report" and row["value"] == row["value"]]
    rows = [row for row in rows if row.get("scope") == rows[0].get("scope")]
    if not rows:
        return None
    known = {(row["kind"], row["measure"]): row for row in rows}
    named = [(known[key], said) for key, said in SHAPES.items() if key in known]
    for kind, said in (("offset", "most attended offset: {}, %"), ("class", "most frequent class: {}, % of texts")):
        of_kind = [row for row in rows if row["kind"] == kind]
        if of_kind:
            top = max(of_kind, key=lambda row: float(row["value"]))
            named.append((top, said.format(top["measure"])))
    biases = [row["measure"] for row in rows if row["kind"] == "sieve" and row["p_adjusted"] < 0.05]
    sentences = (f"Significantly biased to: {', '.join(biases)}.",) if biases else ()
    cells = tuple((said, *_amount(row, said)) for row, said in named)
    return CardPart("Attention statistics", sentences, ("measure", "value", "interval", "uniform map"), cells)


def _amount(row: Mapping[Any, Any], said: str) -> tuple[str, str, str]:
    write = percent if "%" in said else decimal
    low, high = float(row["ci_low"]), float(row["ci_high"])
    between = f"[{write(low)}, {write(high)}]" if low == low and high == high else ""
    return write(float(row["value"])), between, write(float(row["even"]))


CIRCUITS: Final[Mapping[str, str]] = {
    "kernel_attention": "attention at the favourite offset of its weights, %",
    "same_word": "prefers the same word, %",
    "related_words": "prefers related words, %",
    "copying": "copying score",
    "write_norm": "norm of what it writes",
}
"Column of circuits.parquet -> what it is."


def circuits(source: CardSource, name: str) -> CardPart | None:
    """What the weights alone say of the head."""
    found = source.of_head("circuits", name)
    if not found:
        return None
    row = found[0]
    sentences = (minus(f"By its weights alone its favourite offset is {row['kernel_offset']:+d}."),)
    cells = tuple(
        (text, percent(float(row[column])) if "%" in text else decimal(float(row[column])))
        for column, text in CIRCUITS.items()
        if column in row and row[column] == row[column]
    )
    return CardPart("From its weights alone", sentences, ("measure", "value"), cells)


def classifiers(source: CardSource, name: str) -> CardPart | None:
    """What a linear classifier reads off the head, the most selective first."""
    rows = [row for row in source.of_head("classifiers", name) if row["selectivity"] == row["selectivity"]]
    rows = sorted(rows, key=lambda row: (-float(row["selectivity"]), str(row["task"]), str(row["label"])))[:MOST]
    columns = ("task", "label", "accuracy, %", "control task, %", "selectivity, points", "interval", "")
    cells = tuple(
        (
            *(str(row["task"]), str(row["label"]), percent(row["accuracy"]), percent(row["control_accuracy"])),
            *(signed(row["selectivity"]), signed_interval(row["selectivity_low"], row["selectivity_high"])),
            "selected" if row["selected"] else "",
        )
        for row in rows
    )
    return CardPart("Trained classifiers", (), columns, cells) if cells else None


def biography(source: CardSource, name: str) -> CardPart | None:
    """What became of the head in training."""
    columns = ("seed", "trajectory", "first role", "last role")
    cells = tuple(
        (str(row["seed"]), LIFE_SHOWN[row["life"]], row["first_role"] or MISSING, row["last_role"] or MISSING)
        for row in source.of_head("biography_lives", name)
    )
    return CardPart("Training trajectory", (), columns, cells) if cells else None

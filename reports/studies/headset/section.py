"""Relations between heads of a run: how near they are, their groups and subspaces, and ensembles of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from reports.formats import count, decimal, p_value, percent, signed
from reports.heads.card_parts import CardSource
from reports.run.folder import RunFolder
from reports.studies.headset.text_tables import CONTRASTS, TOGETHER
from reports.tables.text_table import TextTable

COMPARED: Final[Mapping[str, str]] = {
    "maps": "maps: distance, nats",
    "W_V": "what heads read, W_V: overlap",
    "W_O": "what heads write, W_O: overlap",
    "outputs": "outputs: linear CKA",
}
"What is compared of two heads -> its name with its unit."

CLEAR: Final = 0.25
"Groups with a smaller mean silhouette show no substantial structure (Kaufman and Rousseeuw 1990, chapter 2)."

MOST_IN_MATRIX: Final = 150
"Heads of the largest model whose pairs a page holds."


@dataclass(frozen=True)
class PairwiseContrast:
    """One thing that is compared of every two heads."""

    what: str
    within: float
    between: float
    p: float
    mean: float
    "Over all pairs."
    random: float
    "The same mean of a model with fresh weights."
    above: float
    "Share of pairs above the highest pair of fresh weights; NaN for distances, of which it would say little."

    @property
    def name(self) -> str:
        """What it is."""
        return COMPARED[self.what]


@dataclass(frozen=True)
class Step:
    """The mean map of some heads on one relation."""

    heads: str
    accuracy: float
    gain: float
    gain_low: float
    gain_high: float
    selected: bool
    margin: float
    margin_low: float
    margin_high: float


@dataclass(frozen=True)
class Ensemble:
    """The best head of a relation, and what heads that are added one by one make of it."""

    probe: str
    label: str
    variant: str
    n: int
    clusters: int
    baseline: str
    baseline_accuracy: float
    steps: tuple[Step, ...]
    "The single head first."

    @property
    def best(self) -> Step:
        """The size that was best on the selection split."""
        return next(step for step in self.steps if step.selected)


@dataclass(frozen=True)
class HeadsTogether:
    """All that a page shows of relations between heads."""

    sentences: tuple[str, ...]
    contrasts: tuple[PairwiseContrast, ...]
    places: pd.DataFrame
    "As places.parquet, with `role`, the head's main role, and `surest`, `accuracy` and `margin`, empty for none."
    distances: pd.DataFrame
    subspaces: pd.DataFrame
    ensembles: tuple[Ensemble, ...]
    "Those that gain most, by the lower end of the interval, first."

    @property
    def compared(self) -> TextTable:
        """Means over pairs of heads."""
        return TextTable.of("Means over pairs of heads", CONTRASTS, self.contrasts)

    @property
    def together(self) -> TextTable:
        """The ensembles."""
        return TextTable.of("Accuracy of the mean map of one head and more, in percent", TOGETHER, self.ensembles)

    @property
    def matrix(self) -> dict[str, Any] | None:
        """The numbers of every two heads for the page's script, whole thousandths; None where they are too many."""
        if self.places.empty or len(self.places) > MOST_IN_MATRIX:
            return None
        measures = [("maps", self.distances["distance"])]
        own = self.subspaces[self.subspaces["weights"] == "own"]
        measures += [
            (what, own.loc[own["what"] == what, "overlap"]) for what in COMPARED if (own["what"] == what).any()
        ]
        heads = zip(self.places["name"], self.places["group"], self.places["role"], strict=True)
        return {
            "heads": [[name, int(group), role] for name, group, role in heads],
            "measures": [[COMPARED[what], [_thousandths(value) for value in values]] for what, values in measures],
        }


def _thousandths(value: float) -> int | None:
    return None if value != value else round(1000 * value)


def heads_together(run: RunFolder) -> HeadsTogether | None:
    """Return the relations between heads of a run; None where it did not measure them."""
    tables = run.studies
    found = tuple(_ensembles(tables["ensembles"])) if "ensembles" in tables else ()
    if "places" not in tables:
        nothing = pd.DataFrame()
        return HeadsTogether(_gains(found), (), nothing, nothing, nothing, found) if found else None
    places = _with_roles(tables["places"], CardSource(run))
    contrasts = tuple(_contrasts(tables["contrasts"], tables["subspaces"]))
    sentences = (*_said(run, contrasts, places), *_gains(found))
    return HeadsTogether(sentences, contrasts, places, tables["distances"], tables["subspaces"], found)


def _with_roles(places: pd.DataFrame, source: CardSource) -> pd.DataFrame:
    """Return the places with main role, and label, accuracy and margin of the surest margin; empty for none."""
    rows = {str(row["name"]): row for row in source.rows.drop_duplicates("name").to_dict("records")}
    surest = [rows.get(name) for name in places["name"]]
    return places.assign(
        role=[source.main_roles.get(name, "") for name in places["name"]],
        surest=[f"{row['label']} ({row['variant']})" if row else "" for row in surest],
        accuracy=[percent(row["accuracy"]) if row else "" for row in surest],
        margin=[signed(row["margin"]) if row else "" for row in surest],
    )


def _contrasts(table: pd.DataFrame, subspaces: pd.DataFrame) -> Iterator[PairwiseContrast]:
    rows = {(row["what"], row["weights"]): row for row in table.to_dict("records")}
    for what in COMPARED:
        if (what, "own") in rows:
            own, fresh = rows[what, "own"], rows.get((what, "random"))
            numbers = {name: float(own[name]) for name in ("within", "between", "p")}
            pairs = subspaces[subspaces["what"] == what]
            high = pairs.loc[pairs["weights"] == "random", "overlap"].max()
            above = pairs.loc[(pairs["weights"] == "own") & pairs["overlap"].notna(), "overlap"] > high
            yield PairwiseContrast(what, **numbers, mean=_mean(own), random=_mean(fresh), above=float(above.mean()))


def _mean(row: Mapping[Any, Any] | None) -> float:
    """Return the mean over all pairs from those of both kinds."""
    if row is None:
        return float("nan")
    kinds = [(row[name], row[f"pairs_{name}"]) for name in ("within", "between") if row[f"pairs_{name}"]]
    pairs = sum(number for _, number in kinds)
    return sum(value * number for value, number in kinds) / pairs if pairs else float("nan")


def _ensembles(table: pd.DataFrame) -> Iterator[Ensemble]:
    groups = [rows.to_dict("records") for _, rows in table.groupby(["probe", "label", "variant"], sort=False)]

    def sure(rows: Sequence[Mapping[Any, Any]]) -> float:
        low = float(next(row["gain_low"] for row in rows if row["selected"]))
        return -1.0 if low != low else low

    kept = ("heads", "accuracy", "gain", "gain_low", "gain_high", "selected", "margin", "margin_low", "margin_high")
    about = ("probe", "label", "variant", "n", "clusters", "baseline", "baseline_accuracy")
    for rows in sorted(groups, key=sure, reverse=True):
        steps = tuple(Step(**{name: row[name] for name in kept}) for row in rows)
        yield Ensemble(**{name: rows[0][name] for name in about}, steps=steps)


def _said(run: RunFolder, contrasts: Sequence[PairwiseContrast], places: pd.DataFrame) -> Iterator[str]:
    """Say what was compared, and what came out."""
    facts = run.record.heads
    if facts is not None:
        left = f"; {count(facts.left_out)} more could not be read whole" if facts.left_out else ""
        yield (
            f"All {len(places)} heads were compared on {count(facts.texts)} texts of the report split, "
            f"{count(facts.words)} words{left}."
        )
    for one in contrasts:
        if one.what == "maps" and one.p == one.p:
            nearer = "nearer to each other" if one.within < one.between else "further from each other"
            sure = "" if one.p < 0.05 else ", not significantly"
            yield (
                f"Heads of one layer are{sure} {nearer} in their maps ({decimal(one.within)} nats) than heads of two "
                f"layers ({decimal(one.between)}; permutation p {_p(one.p)})."
            )
        elif one.what in ("W_V", "W_O") and one.random == one.random:
            does = "read" if one.what == "W_V" else "write"
            yield (
                f"Subspaces in which heads {does} ({one.what}): those of two heads overlap by {percent(one.mean)} % "
                "(mean squared cosine of the principal angles), with randomly initialised weights by "
                f"{percent(one.random)} %; {percent(one.above)} % of pairs overlap more than any pair with randomly "
                "initialised weights."
            )
    if places["group"].nunique() > 1 and facts is not None and facts.silhouette is not None:
        sizes = sorted(places["group"].value_counts().tolist(), reverse=True)
        unclear = f"; below {decimal(CLEAR)} groups are not clear" if facts.silhouette < CLEAR else ""
        yield (
            f"By their maps heads were divided into {len(sizes)} groups, of {', '.join(map(str, sizes))} heads (mean "
            f"silhouette {decimal(facts.silhouette)}{unclear})."
        )


def _p(p: float) -> str:
    said = p_value(p)
    return said if said.startswith("<") else f"= {said}"


def _gains(found: Sequence[Ensemble]) -> tuple[str, ...]:
    """Say how many ensembles are better than their best head."""
    known = [one for one in found if one.best.gain_low == one.best.gain_low]
    if not known:
        return ()
    better = sum(one.best.gain_low > 0 for one in known)
    worse = sum(one.best.gain_high < 0 for one in known)
    single = sum(one.steps[0].margin_low > 0 for one in known)
    together = sum(one.best.margin_low > 0 for one in known)
    return (
        f"Ensembles: for {better} of {len(known)} labels the mean map of the selected heads is better "
        f"than the best head alone (95 % interval of the gain above 0), for {worse} worse. The 95 % interval of the "
        f"margin over the strongest baseline or control lies above 0 in {single} for the single head and in {together} "
        "for the ensemble (not corrected).",
    )

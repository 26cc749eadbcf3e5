"""What the model does: which sentence of minimal pairs it prefers, by attractors, phenomenon and paradigm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from reports.formats import MISSING, count, interval, percent
from reports.run.folder import RunFolder
from reports.scores.best_heads import FEW_CLUSTERS
from reports.studies.behaviour.text_tables import PREFERENCES
from reports.tables.table import last_step
from reports.tables.text_table import TextTable

CHANCE: Final = 0.5

METHODS: Final = (
    (
        "masked",
        "The sentences differ in one word piece. It is masked, and the model prefers the sentence whose piece has "
        "the higher probability there (Goldberg 2019).",
    ),
    (
        "pll",
        "Pseudo-log-likelihood: every piece of a sentence is masked in turn, and the log-probabilities of the "
        "correct pieces are summed; the model prefers the sentence with the higher sum (Salazar et al. 2020).",
    ),
    (
        "cloze",
        "Both sentences have the same word at one place. It is masked, and the model prefers the sentence in which it "
        "has the higher probability (Ettinger 2020).",
    ),
)
"Method -> what it is."

DECIDED: Final = (
    "Accuracy is the share of pairs whose correct sentence the model prefers; ties count half, chance is 50. "
    "Intervals (95 %) come from resampling clusters: the sentences or documents that pairs were made from. Where all "
    "clusters are correct the interval is the exact binomial one. A model that always prefers one form of a verb is "
    "correct on all pairs of one number and on none of the other. A phenomenon with few "
    "different words can differ from chance by preferences for words alone: compare with an untrained model."
)

TITLES: Final = {
    "attractors": "By attractors: nouns of the other number between subject and verb (pairs with a coordinated subject "
    "are left out)",
    "number": "By number of the verb in the correct sentence",
    "phenomenon": "By phenomenon",
    "condition": "By condition",
    "paradigm": "By paradigm",
}
"Level -> title of its table, in the order of a page."

VERBS: Final = {
    "above chance": "lies above chance",
    "below chance": "lies below chance",
    "contains chance": "contains chance",
}
"Verdict -> what the interval does."

FOLDED: Final = 15
"A table with more rows than this is folded, and not in the static figure."


@dataclass(frozen=True)
class Preference:
    """How often the model prefers the right sentence in one group of pairs; fractions, NaN where n is 0."""

    name: str
    method: str
    n: int
    clusters: int
    accuracy: float
    ci_low: float
    ci_high: float
    near_ties: int
    left_out: int

    @property
    def has_few_clusters(self) -> bool:
        """Whether the interval rests on fewer than 20 clusters."""
        return 0 < self.clusters < FEW_CLUSTERS

    @property
    def verdict(self) -> str:
        """Where the interval lies, in words; "" where there is none, or too few clusters for a verdict."""
        if self.ci_low != self.ci_low or self.has_few_clusters:
            return ""
        return (
            "above chance" if self.ci_low > CHANCE else "below chance" if self.ci_high < CHANCE else ("contains chance")
        )

    @property
    def text(self) -> str:
        """Accuracy with its interval and n: "81.5 % [77.0, 85.9] of 412"."""
        between = interval(self.ci_low, self.ci_high)
        return f"{percent(self.accuracy)} %{' ' + between if between else ''} of {count(self.n)}"


@dataclass(frozen=True)
class Grouping:
    """The pairs of a corpus, divided in one way."""

    level: str
    title: str
    rows: tuple[Preference, ...]

    @property
    def shown(self) -> TextTable:
        """The rows as people read them."""
        return TextTable.of(self.title, PREFERENCES, self.rows)

    @property
    def folded(self) -> bool:
        """Whether there are too many rows to be shown at once."""
        return len(self.rows) > FOLDED


@dataclass(frozen=True)
class Examined:
    """What the model does on one corpus of minimal pairs."""

    corpus: str
    whole: Preference
    groupings: tuple[Grouping, ...]

    @property
    def all_pairs(self) -> TextTable:
        """The corpus as it is, for where it is not divided."""
        return TextTable.of("All pairs", PREFERENCES, [self.whole])

    @property
    def summary(self) -> str:
        """What came out, in a few sentences."""
        whole = self.whole
        if not whole.n:
            return f"Nothing was decided; pairs left out: {count(whole.left_out)}."
        verdict = f"the interval {VERBS[whole.verdict]}" if whole.verdict else "too few clusters for a verdict"
        text = f"The correct sentence is preferred in {whole.text} pairs: {verdict}."
        attractors = next((one.rows for one in self.groupings if one.level == "attractors"), ())
        known = [row for row in attractors if row.n and not row.has_few_clusters]
        if len(known) > 1:
            text += f" Without attractors {known[0].text}, with {known[-1].name}: {known[-1].text}."
        return text + (f" Pairs left out: {count(whole.left_out)}." if whole.left_out else "")


@dataclass(frozen=True)
class MinimalPairResults:
    """What a page says about minimal pairs."""

    corpora: tuple[Examined, ...]
    methods: tuple[tuple[str, str], ...]
    "Those that decided pairs, each with what it is."

    @property
    def drawn(self) -> tuple[tuple[str, tuple[Preference, ...]], ...]:
        """Corpus and rows of a static figure: the whole corpus, then what is not folded."""
        return tuple(
            (one.corpus, (one.whole, *(row for part in one.groupings if not part.folded for row in part.rows)))
            for one in self.corpora
        )


def behaviour(run: RunFolder) -> MinimalPairResults | None:
    """Return what the page says about the model's last step; None where the run asked about no pairs."""
    if run.behaviour is None or run.behaviour.empty:
        return None
    frame = last_step(run.behaviour)
    used = {name for said in frame["method"] for name in said.split(", ")}
    corpora = tuple(_examined(str(name), rows) for name, rows in frame.groupby("corpus", sort=False))
    return MinimalPairResults(corpora, tuple(method for method in METHODS if method[0] in used))


def _examined(corpus: str, rows: pd.DataFrame) -> Examined:
    levels = {str(level): part.to_dict("records") for level, part in rows.groupby("level")}
    several = len(levels.get("paradigm", [])) > 1
    groupings = [
        Grouping(level, title, tuple(_preference(row, _name(row, level)) for row in levels[level]))
        for level, title in TITLES.items()
        if len(levels.get(level, [])) > 1 and not (level == "condition" and several)
    ]
    return Examined(corpus, _preference(levels["corpus"][0], "all pairs"), tuple(groupings))


def _name(row: dict[Any, Any], level: str) -> str:
    if level == "attractors":
        number = int(row["attractors"])
        return f"{number or 'no'} attractor{'' if number == 1 else 's'}"
    return str(row[level]).replace("_", " ")


def _preference(row: dict[Any, Any], name: str) -> Preference:
    kept = ("n", "clusters", "accuracy", "ci_low", "ci_high", "near_ties", "left_out")
    return Preference(name, str(row["method"]) or MISSING, **{key: row[key] for key in kept})

"""What a page says of head biographies: when roles came, in which order, and what became of the heads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from reports.biographies.agreement import AgreementHeads, agreement
from reports.biographies.curves import QUESTION, drawn_curves, progress, slider_view
from reports.biographies.text_tables import LIFE_SHOWN, MATCHED, NARROWS, SHOWN
from reports.formats import MISSING, count, percent
from reports.run.folder import RunFolder
from reports.scores.thresholds import RunThresholds
from reports.tables.text_table import TextTable

ALL_SEEDS: Final = -1
"The seed of rows about all seeds together."

MOST_CURVES: Final = 8
"Roles whose curves are drawn."

PAIRS: Final = (
    "Only minimal pairs with attractors in the first corpus count (all its pairs, where it counts no attractors)."
)
"Which pairs the behaviour of a checkpoint is measured on."

LIFE: Final[Mapping[str, str]] = {
    "commits": "holds a role at the end, and never held another",
    "changes": "holds a role at the end, and held another one before",
    "wavers": "has a role at the end, but not for long enough to hold it",
    "loses": "held a role, but has no role at the end",
    "never": "never held a role",
}
"Name in the tables of a run -> definition, in the order of a page."


@dataclass(frozen=True)
class Onset:
    """When one role came; its best variant is told."""

    probe: str
    label: str
    variant: str
    n: int
    onset: float
    after: float
    by: float
    low: float
    high: float
    seeds: int
    with_onset: int
    onset_share: float
    first_margin: float
    peak_margin: float
    peak_step: int
    last_margin: float
    heads: tuple[str, ...]
    "Best head at the peak, one a seed."
    before_next: float
    "Share of resamples in which it comes before the next one of the table; NaN where they were not compared."

    @property
    def interval(self) -> str:
        """The interval in steps; an end that lies beyond the training is told in words."""
        if math.isnan(self.low):
            return MISSING
        low = "never" if math.isinf(self.low) else count(round(self.low))
        return f"[{low}, {'never' if math.isinf(self.high) else count(round(self.high))}]"

    @property
    def between(self) -> str:
        """The checkpoints around the onset."""
        return f"{count(round(self.after))} – {count(round(self.by))}"


@dataclass(frozen=True)
class ClassTrajectory:
    """What became of the heads of one class."""

    life: str
    "As the tables of a run have it; LIFE_SHOWN has its name for readers."
    meaning: str
    heads: int
    names: tuple[str, ...]
    "Heads with their last role; with several seeds the seed stands before the name."


@dataclass(frozen=True)
class MatchedHeads:
    """How near matched heads are, over all pairs of one kind."""

    what: str
    pairs: int
    distance: float
    chance: float
    null: float
    "Distance when the other model reads other sentences; NaN where that was not measured."
    itself: float
    same_role: float
    same_role_chance: float


MEANS: Final = ("distance", "null", "chance", "itself", "same_role", "same_role_chance")
"Columns of biography_matches that are averaged over pairs."


@dataclass(frozen=True)
class HeadBiographies:
    """All that a page says of biographies."""

    seeds: tuple[int, ...]
    steps: tuple[int, ...]
    "Of all seeds."
    onsets: tuple[Onset, ...]
    "In the order in which roles came."
    roles_tested: int
    "Roles that were looked for."
    agreement: AgreementHeads | None
    "The heads between subject and verb; None where they were not asked for."
    courses: tuple[ClassTrajectory, ...]
    narrowed: tuple[str, ...]
    "Generalists that became specialists."
    lives: pd.DataFrame
    "One row a head with any role ever."
    matched: tuple[MatchedHeads, ...]
    order: str
    "Which kind of roles came first; empty where there is one kind only."
    behaviour: str
    "What the model does at the last checkpoint, by seed; empty where it was not asked."
    curves: pd.DataFrame
    "role, step, margin, low, high, name of the roles that are drawn; means over seeds."
    progress: pd.DataFrame
    "step, loss, evaluation_loss, behaviour, effective; means over seeds."
    slider: dict[str, Any]
    "What the slider view shows."
    left_out: int
    "Label-variant pairs that did not fit into it."

    def table(self, name: str) -> TextTable:
        """Return a table as people read it: onsets, followers, courses, lives or matched."""
        rows = {
            "onsets": self.onsets,
            "followers": self.agreement.followers if self.agreement else (),
            "courses": (*self.courses, ClassTrajectory("narrows", NARROWS, len(self.narrowed), self.narrowed)),
            "lives": self.lives.to_dict("records"),
            "matched": self.matched,
        }
        return TextTable.of(*SHOWN[name], rows[name])

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was followed and what was found."""
        seeds = f"{len(self.seeds)} seeds" if len(self.seeds) > 1 else f"seed {self.seeds[0]}"
        scope = (
            f"All heads of {seeds} were scored at {count(len(self.steps))} checkpoints, from step "
            f"{count(self.steps[0])} to step {count(self.steps[-1])}."
        )
        if not self.onsets:
            none = f"None of the {count(self.roles_tested)} roles that were tested had an onset."
            return tuple(part for part in (scope, none, self.behaviour) if part)
        first, last = self.onsets[0], self.onsets[-1]
        found = (
            f"{count(len(self.onsets))} of {count(self.roles_tested)} roles had an onset, the first “{first.label}” "
            f"(step {count(round(first.onset))}, interval {first.interval}), the last “{last.label}” "
            f"(step {count(round(last.onset))}, interval {last.interval}). The interval excludes “never” in "
            f"{count(sum(math.isfinite(onset.high) for onset in self.onsets))} of {count(len(self.onsets))}."
        )
        lives = ", ".join(f"{LIFE_SHOWN[course.life]} ({course.heads})" for course in self.courses)
        return tuple(
            part for part in (scope, found, self.order, f"Trajectories of heads: {lives}.", self.behaviour) if part
        )


def head_biographies(run: RunFolder, rule: RunThresholds) -> HeadBiographies | None:
    """Return what a page says of the biographies of a run, judged by `rule`; None where it followed no training."""
    tables = run.biographies
    if tables is None:
        return None
    scores, all_onsets = tables["biographies"], tables["biography_onsets"]
    seeds, steps = (tuple(sorted(scores[column].unique().tolist())) for column in ("seed", "step"))
    told = all_onsets[(all_onsets["seed"] == (ALL_SEEDS if len(seeds) > 1 else seeds[0])) & all_onsets["role"]]
    onsets = tuple(_onsets(told, tables, seeds))
    slider, left_out = slider_view(scores, told)
    return HeadBiographies(
        seeds=seeds,
        steps=steps,
        onsets=onsets,
        roles_tested=told.groupby(["probe", "label"]).ngroups,
        agreement=agreement(tables, rule.margin),
        courses=tuple(_courses(tables["biography_lives"], several=len(seeds) > 1)),
        narrowed=tuple(_names(tables["biography_lives"].query("narrows"), several=len(seeds) > 1)),
        lives=_lives(tables["biography_lives"]),
        matched=tuple(_matched(tables.get("biography_matches"))),
        order=_order(tables["biography_order"], steps),
        behaviour=_behaviour(tables["biography_steps"]),
        curves=drawn_curves(tables["biography_curves"], _to_draw(onsets, all_onsets)),
        progress=progress(tables),
        slider=slider,
        left_out=left_out,
    )


def _behaviour(steps: pd.DataFrame) -> str:
    """Return the behaviour of every seed at its last checkpoint in words."""
    last = steps.sort_values("step").groupby("seed")["behaviour"].last().dropna()
    if last.empty:
        return ""
    told = ", ".join(f"{percent(value)} % (seed {seed})" for seed, value in last.items())
    return f"Behaviour at the last checkpoint: {told}. {PAIRS}"


def _onsets(told: pd.DataFrame, tables: Mapping[str, pd.DataFrame], seeds: tuple[int, ...]) -> Iterator[Onset]:
    come = told[np.isfinite(told["onset"])].sort_values("peak_margin", ascending=False, kind="stable")
    best = come.drop_duplicates(["probe", "label"]).sort_values(["onset", "label"], kind="stable")
    every, order = tables["biography_onsets"], tables["biography_order"]
    shares = {(row["one"], row["other"]): row["share"] for row in order.to_dict("records") if row["what"] == "role"}
    names = [f"{label} ({variant})" for label, variant in zip(best["label"], best["variant"], strict=True)]
    for row, this, following in zip(best.to_dict("records"), names, [*names[1:], ""][: len(names)], strict=True):
        same = (every[QUESTION] == [row[column] for column in QUESTION]).all(axis=1)
        heads = every[same & every["seed"].isin(seeds)].sort_values("seed")["peak_head"]
        numbers = {name: row[name] for name in Onset.__dataclass_fields__ if name in row}
        backwards = 1 - shares.get((following, this), math.nan)
        before_next = shares.get((this, following), backwards)
        yield Onset(**numbers, heads=tuple(heads), before_next=before_next)


def _courses(lives: pd.DataFrame, *, several: bool) -> Iterator[ClassTrajectory]:
    for life, meaning in LIFE.items():
        rows = lives[lives["life"] == life]
        yield ClassTrajectory(life, meaning, len(rows), tuple(_names(rows, several=several)) if life != "never" else ())


def _names(rows: pd.DataFrame, *, several: bool) -> Iterator[str]:
    for row in rows.to_dict("records"):
        role = row["last_role"] or row["first_role"]
        who = f"seed {row['seed']}: {row['name']}" if several else str(row["name"])
        yield f"{who} ({role})" if role else who


def _lives(lives: pd.DataFrame) -> pd.DataFrame:
    """Return the heads that ever had a role, by seed and name."""
    rows = lives[(lives["last_role"] != "") | (lives["first_role"] != "")]
    return rows.sort_values(["seed", "layer", "head"], kind="stable").reset_index(drop=True)


def _matched(matches: pd.DataFrame | None) -> Iterator[MatchedHeads]:
    for what in MATCHED if matches is not None else ():
        assert matches is not None
        rows = matches[matches["what"] == what]
        if len(rows):
            means = {name: float(rows[name].mean()) for name in MEANS}
            yield MatchedHeads(what=what, pairs=len(rows), **means)


def _order(order: pd.DataFrame, steps: tuple[int, ...]) -> str:
    """Return which kind of roles has the earlier median onset, for every two kinds; `steps` are the checkpoints."""
    sentences = []
    for row in order[order["what"] == "kind"].to_dict("records"):
        share = f"in {percent(row['share'])} % of resamples"
        onsets = [float(row[f"{who}_onset"]) for who in ("one", "other")]
        one, other = (count(round(onset)) for onset in onsets)
        sentences.append(
            f"Of the roles with an onset, the median {row['one']} onset is step {one}, the median {row['other']} one "
            f"step {other}; the {row['one']} one is earlier {share} (ties count half).{_interpolated(onsets, steps)}"
        )
    return " ".join(sentences)


def _interpolated(onsets: list[float], steps: tuple[int, ...]) -> str:
    """Return that two onsets lie between the same two checkpoints; "" where they do not."""
    one, other = np.searchsorted(steps, onsets)
    if one != other or not 0 < one < len(steps):
        return ""
    return (
        f" Both lie between the checkpoints {count(steps[one - 1])} and {count(steps[one])}, so their order rests on "
        "interpolation."
    )


def _to_draw(onsets: tuple[Onset, ...], every: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return the questions with the highest margins, of those whose role came or, if none did, of all."""
    ranked = sorted(onsets, key=lambda one: -one.peak_margin)[:MOST_CURVES]
    chosen = [(one.probe, one.label, one.variant) for one in sorted(ranked, key=lambda one: one.onset)]
    if not chosen:
        top = every[every["role"]].sort_values("peak_margin", ascending=False, kind="stable")
        top = top.drop_duplicates(["probe", "label"]).head(MOST_CURVES)
        chosen = list(top[QUESTION].itertuples(index=False, name=None))
    return chosen

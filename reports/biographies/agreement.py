"""What becomes of the heads between subject and verb: the best one of every seed at its best and at the last step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from reports.biographies.curves import QUESTION
from reports.formats import count, percent, points, signed

PROBE: Final = "agreement"
UNDISTURBED: Final = "attractors=0"
"The label whose verbs mostly stand beside their subjects; the table has it, the sentences have not."

FEWEST: Final = 50
"Items that a label needs in order to be told."


@dataclass(frozen=True)
class Follower:
    """The best head of one seed, direction and label at one step.

    Fractions; the margin is over the strongest baseline, of heads that are selected on one half of the texts and
    evaluated on the other.
    """

    label: str
    direction: str
    seed: int
    when: str
    '"best" or "last" step.'
    step: int
    head: str
    accuracy: float
    baseline: str
    baseline_accuracy: float
    margin: float
    low: float
    high: float
    excess: float
    "Over the same head at the first checkpoint, which has random weights."
    n: int


@dataclass(frozen=True)
class AgreementHeads:
    """All that a page says of the heads between subject and verb."""

    sentences: tuple[str, ...]
    followers: tuple[Follower, ...]


def agreement(tables: Mapping[str, pd.DataFrame], needed: float) -> AgreementHeads | None:
    """Return what is said; None where the probe was not asked. `needed` is the margin of a specialised head."""
    curves, scores = (tables[name][tables[name]["probe"] == PROBE] for name in ("biography_curves", "biographies"))
    if curves.empty:
        return None
    followers = tuple(_followers(curves, scores))
    asked = dict.fromkeys((one.direction, one.label) for one in followers if one.label != UNDISTURBED)
    sentences = [_sentence([one for one in followers if (one.direction, one.label) == what], needed) for what in asked]
    return AgreementHeads(tuple(sentences), followers)


def _followers(curves: pd.DataFrame, scores: pd.DataFrame) -> Iterator[Follower]:
    keys = [*QUESTION, "seed", "step", "name"]
    both = curves.merge(scores.drop(columns=["margin", "head"]), on=keys)
    both = both.rename(columns={"name": "head", "variant": "direction"})
    told = both[(both["label"].eq("all") | both["label"].str.startswith("attractors")) & both["n"].ge(FEWEST)]
    for _, rows in told.groupby(["label", "direction", "seed"]):
        best = rows.sort_values(["margin", "step"], ascending=[False, True])
        last = rows.sort_values("step", ascending=False)
        for when, ranked in (("best", best), ("last", last)):
            numbers = ranked.to_dict("records")[0]
            numbers["when"] = when
            yield Follower(**{str(name): numbers[name] for name in Follower.__dataclass_fields__})


def _sentence(followers: Sequence[Follower], needed: float) -> str:
    """Say in how many seeds a head follows a direction, over the verbs of one label."""
    best, last = ([one for one in followers if one.when == when] for when in ("best", "last"))
    reached, stayed = (sum(one.margin >= needed for one in ones) for ones in (best, last))
    top = max(best, key=lambda one: one.margin)
    return (
        f"{top.direction}, {'all verbs' if top.label == 'all' else top.label}: the best head is {points(needed)} "
        f"points above the strongest baseline in {count(reached)} of {count(len(best))} "
        f"{'seed' if len(best) == 1 else 'seeds'} at its best step, in {count(stayed)} at the last; the highest margin "
        f"is {signed(top.margin)} points (head {top.head} of seed {top.seed} at step {count(top.step)}, "
        f"{percent(top.accuracy)} % against {percent(top.baseline_accuracy)} % of the {top.baseline})."
    )

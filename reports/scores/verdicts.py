"""When a head is called specialised: the rule in words, what was found by it, and where too little was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from reports.formats import points
from reports.run.needed_items import NeededItems
from reports.run.record import RunRecord
from reports.scores.best_heads import CLASSIFIER, probes

Head = tuple[str, str, str]
"(name, label, variant) of a head that a verdict is about."


@dataclass(frozen=True)
class RunThresholds:
    """The thresholds of a run, as its config gives them."""

    alpha: float = 0.05
    "The adjusted p must be below this."
    margin: float = 0.1
    "The margin over the strongest of baselines and controls must be at least this."

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> RunThresholds:
        """Return the rule of the table [verdict]; what it does not say has its default."""
        verdict = config.get("verdict", {})
        return cls(float(verdict.get("alpha", cls.alpha)), float(verdict.get("margin", cls.margin)))

    def said(self, *, controlled: bool) -> tuple[tuple[str, str], ...]:
        """Return the rule as (term, sentences); `controlled` is whether the run had any control."""
        rivals = "every baseline and control" if controlled else "every baseline"
        unlearned = (
            "This run had no controls, so here specialised means above the baselines only. A model without knowledge "
            "might do as well."
        )
        return (
            (
                "Specialised",
                f"A head is specialised in a label (read as its variant says) when, on the report split, it is right "
                f"more often than {rivals} that makes sense for the probe, surely (adjusted p below {self.alpha:g}, "
                f"corrected for all heads and labels of the run) and by enough (at least {points(self.margin)} "
                f"percentage points above the strongest of them).",
            ),
            (
                "Beyond the lexical table",
                "A specialised head is beyond the lexical table when the 95 % interval of its margin over that table "
                "(of this one head and label, not corrected for others) lies above 0 as well. The table is a "
                "supervised yardstick: it counted, in the annotated selection split, which word forms and which "
                "distances are right.",
            ),
            (
                "Beyond the rules",
                "A specialised head is beyond the rules of grammar when the 95 % interval of its margin over the "
                "strongest of them (of this one head and label, not corrected for others) lies above 0 as well. A rule "
                "knows the corpus' tags and trees: the nearest word with one of at most five parts of speech, chosen "
                "for each label on the selection split, and for agreement and coreference what an expert would look "
                "for, such as the nearest noun that fits in number. Where a rule is as good as a head, the head may do "
                "no more than the rule.",
            ),
            (
                "Why both are told",
                "As far as we know nobody has published heads against that yardstick, and most heads lose to it. "
                "Losing does not make a head unspecialised, for the head had no supervision. Beating it means that "
                "the head knows more than word forms and distances.",
            ),
            *((("No controls", unlearned),) if not controlled else ()),
        )


@dataclass(frozen=True)
class Finds:
    """What one probe found on the report split, over all heads and not only the chosen ones."""

    probe: str
    pairs: int
    "Label–variant pairs that were tested."
    labels: int
    "Labels among them."
    found_pairs: int
    "Pairs with at least one specialised head."
    found_labels: int
    with_table: int
    "Pairs among the found ones that have a lexical table."
    heads: frozenset[str]
    "Heads that are specialised in anything."
    beyond: tuple[Head, ...]
    "Heads beyond the lexical table, the largest sure margin over it first."
    with_rule: int = 0
    "Pairs among the found ones that have a rule of grammar."
    beyond_rules: tuple[Head, ...] = ()
    "Heads beyond the rules of grammar, the largest sure margin over them first."


@dataclass(frozen=True)
class Verdicts:
    """All that a page says about verdicts beside those of single rows."""

    rule: RunThresholds
    design: NeededItems | None
    finds: tuple[Finds, ...]
    controlled: bool
    "Whether the run had any control."

    @classmethod
    def of(cls, scores: pd.DataFrame, record: RunRecord, config: Mapping[str, Any], *, controlled: bool) -> Verdicts:
        """Gather what scores, run.json and config.toml say about verdicts."""
        return cls(RunThresholds.of(config), record.design, find_all(scores), controlled)

    @property
    def said(self) -> tuple[tuple[str, str], ...]:
        """The rule as (term, sentences)."""
        return self.rule.said(controlled=self.controlled)

    def marks(self, n: int, clusters: int) -> bool:
        """Whether a label with `n` scored words is marked as small."""
        return self.design is not None and self.design.marks(n, clusters)


def find_all(scores: pd.DataFrame) -> tuple[Finds, ...]:
    """Count the verdicts of every probe that has any; trained classifiers have none."""
    tested = scores[(scores["split"] == "report") & scores["p_adjusted"].notna() & (scores["probe"] != CLASSIFIER)]
    return tuple(_finds(probe, tested[tested["probe"] == probe]) for probe in probes(tested))


def _finds(probe: str, tested: pd.DataFrame) -> Finds:
    found = tested[tested["specialised"]]
    return Finds(
        probe=probe,
        pairs=_pairs(tested),
        labels=tested["label"].nunique(),
        found_pairs=_pairs(found),
        found_labels=found["label"].nunique(),
        with_table=_pairs(found[found["lexical_accuracy"].notna()]),
        heads=frozenset(found["name"]),
        beyond=_beyond(found, "beyond_lexical", "lexical_margin_low"),
        with_rule=_pairs(found[found["rule_accuracy"].notna()]),
        beyond_rules=_beyond(found, "beyond_rules", "rule_margin_low"),
    )


def _beyond(found: pd.DataFrame, flag: str, sure: str) -> tuple[Head, ...]:
    rows = found[found[flag]].sort_values(sure, ascending=False, kind="stable")
    return tuple(zip(rows["name"], rows["label"], rows["variant"], strict=True))


def _pairs(rows: pd.DataFrame) -> int:
    return len(rows[["label", "variant"]].drop_duplicates())

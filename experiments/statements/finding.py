"""What a finding is: a claim of a paper with its numbers, the rule that decides, and how it is measured here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from experiments.statements.estimates import Estimate
from experiments.statements.rule import Rule
from reports.statements.figure import Figure

PROVENANCE: Mapping[str, str] = {
    "paper": "read in the paper, or in what its authors put out",
    "second-hand": "read where others quote it",
    "computed": "computed from what the authors, or the corpus, put out",
    "memory": "from memory, unverified",
}
"How a published number came to us -> what readers are told."

Provenance = Literal["paper", "second-hand", "computed", "memory"]


class FindingError(ValueError):
    """A finding that is unknown, or that was written down wrongly."""


@dataclass(frozen=True)
class Paper:
    """Whose findings they are."""

    key: str
    "Short name, such as clark-2019."
    cited: str
    "Authors and year."
    title: str


@dataclass(frozen=True)
class Published:
    """A published number; fractions lie in [0, 1], as everywhere, and are shown in percent."""

    value: float | None = None
    "None where the paper has a figure or a statement only."
    baseline: float | None = None
    text: str = ""
    'What else is printed, such as the head, "8-10", or the statement itself.'
    provenance: Provenance = "paper"
    erratum: str = ""
    "What is wrong with it, and how we know."


FRACTION_OR_UNIT = "fraction or unit"


@dataclass(frozen=True)
class Statement:
    """A sentence that is true of a model or not; its rule is written down before anything is measured."""

    name: str
    "Short name within its finding, such as obj."
    text: str
    number: str
    "What the number is that decides."
    rule: Rule
    published: Published = Published()
    shown: str = FRACTION_OR_UNIT
    'Unit of the published number and of ours beside it; where it is not said, "%" of a fraction, else that of `rule`.'
    tolerance: float | None = None
    "How far our number may lie from the published one on the paper's own model; None where that is not asked."
    weaker: Rule | None = None
    "What remains of it below the paper's own bar: where only this holds, the verdict is that a weaker version does."
    measure: Measure | None = None
    "How it is measured, where it is measured by itself."

    @property
    def unit(self) -> str:
        """What the number is in that decides."""
        return self.rule.unit

    def __post_init__(self) -> None:
        """Fill in `shown`."""
        if self.shown == FRACTION_OR_UNIT:
            object.__setattr__(self, "shown", "%" if self.unit in ("points", "%") else self.unit)


@dataclass(frozen=True)
class Measured:
    """What was measured for a statement."""

    decides: Estimate
    "The number that the rule is about."
    ours: Estimate | None = None
    "The number that stands beside the published one, where that is another."
    baseline: float | None = None
    heads: str = ""
    'The heads that it is about, such as "3-5".'
    note: str = ""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Measured | Missing:
        """Read from JSON what was measured, or why nothing was."""
        if "decides" not in entry:
            return Missing(str(entry["missing"]), bool(entry.get("absent")))
        ours = Estimate.of(entry["ours"]) if entry["ours"] else None
        return cls(Estimate.of(entry["decides"]), ours, entry["baseline"], entry["heads"], entry["note"])

    def recorded(self) -> dict[str, Any]:
        """Return it as JSON has it: what is missing is null."""
        baseline = None if self.baseline is None or math.isnan(self.baseline) else self.baseline
        beside = {"ours": self.ours.recorded() if self.ours else None, "baseline": baseline}
        return {"decides": self.decides.recorded()} | beside | {"heads": self.heads, "note": self.note}


@dataclass(frozen=True)
class Missing(Exception):  # noqa: N818 - a result
    """Why a statement has no number here; its measure raises it."""

    why: str
    absent: bool = False
    """Whether what the statement is about is not there, such as a head with a role: then untrained weights lack it.
    Else it could not be measured, which says nothing of them."""

    def recorded(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"missing": self.why} | ({"absent": True} if self.absent else {})


Result = TypeVar("Result")

Evidence = Mapping[str, Any]
"Name of a reading -> the `reports.Run` of it, or the record of a claim."

Numbers = Mapping[str, Measured | Missing]
"Name of a statement -> what was measured for it."

Measure = Callable[[Evidence], Measured]
"How one statement is measured."


@dataclass(frozen=True)
class Finding:
    """A claim of a paper that a model can be compared with."""

    id: str
    claim: str
    where: str
    "Section, table or figure of the paper."
    model: str
    "What the paper looked at."
    data: str
    metric: str
    "How the paper defines its number, and how we do where that differs."
    stands_in: str = ""
    "Which of our corpora or models stands in."
    differs: str = ""
    "What differs from the original."
    statements: Sequence[Statement] = ()
    readings: Sequence[str] = ()
    "Names of `experiments.reproduce.readings` that must be there."
    measure: Callable[[Evidence], Numbers | Measured] | None = None
    "How its statements are measured: all together, or the only one; without it each has a measure of its own."
    figure: Callable[[Evidence], Figure] | None = None
    "A figure like the paper's own."
    bars: str = ""
    "In its place: the title of bars of our numbers with their baselines beside the published ones."
    enough: int | None = None
    "How many statements must hold; None for all that have a number."
    fact: str = ""
    "Why it holds by arithmetic, by the corpus or with uniform attention, whatever the weights; it is not counted."
    group: str = ""
    "Name of the findings that rest on the same number as this one: together they count once."
    repeats: str = ""
    "Id of the finding of its group that counts; empty where it is this one."
    unclaimed: str = ""
    "Why the paper does not claim what is tested; it is not counted."
    revised: str = ""
    "How its rule was changed after its numbers had been seen; it is not counted."
    untrained: str = ""
    "Which untrained weights pass its rule in some seed, so that it shows nothing learned; it is not counted."
    weaker: str = ""
    "What of the claim is not tested: then it is a weaker version that holds, and not the claim."
    original: tuple[str, ...] = ()
    "Names of the paper's own models; on these, published values are compared with ours within `tolerance`."
    graded: bool = False
    "Whether its numbers are of heads with grades, which hang on a run's controls and thresholds."
    missing: str = ""
    "What is missing to test it here at all."

    def __post_init__(self) -> None:
        """Refuse a finding that could never have a verdict, or whose verdict nobody could explain."""
        alone = bool(self.statements) and all(one.measure is not None for one in self.statements)
        if [bool(self.missing), self.measure is not None, alone].count(True) != 1:
            raise FindingError(f"{self.id}: either `measure` it, or say what is `missing`")
        if not self.missing and not (self.statements and self.readings):
            raise FindingError(f"{self.id}: what is measured needs `statements` and `readings`")
        if self.repeats and (not self.group or self.repeats == self.id):
            raise FindingError(f"{self.id}: what `repeats` another finding is in the `group` of that")
        names = [one.name for one in self.statements]
        if len(set(names)) < len(names):
            raise FindingError(f"{self.id}: two statements have one name")

    def numbers(self, evidence: Evidence) -> Numbers:
        """Return what is measured for each statement; raises FindingError for a number that is of none."""
        if self.measure is None:
            return {one.name: _measured(one.measure, evidence) for one in self.statements if one.measure is not None}
        found = _measured(self.measure, evidence)
        if not isinstance(found, Mapping):
            return {one.name: found for one in self.statements}
        if strange := set(found) - {one.name for one in self.statements}:
            raise FindingError(f"{self.id}: measured {sorted(strange)}, which no statement is about")
        return found

    @property
    def uncounted(self) -> str:
        """Why it is not among the findings that are counted; empty where it is."""
        repeats = f"it rests on the number of {self.repeats}" if self.repeats else ""
        revised = f"its rule was changed after its numbers had been seen: {self.revised}" if self.revised else ""
        untrained = f"untrained weights pass it: {self.untrained}" if self.untrained else ""
        return "; ".join(filter(None, (self.fact, repeats, self.unclaimed, revised, untrained)))

    @property
    def counted(self) -> bool:
        """Whether it is counted: it is a claim of the paper, no fact, no repeat, by a rule set before."""
        return not self.uncounted


def _measured(measure: Callable[[Evidence], Result], evidence: Evidence) -> Result | Missing:
    try:
        return measure(evidence)
    except Missing as missing:
        return missing


@dataclass(frozen=True)
class PaperFindings:
    """One paper's findings as its file holds them."""

    paper: Paper
    findings: Sequence[Finding] = field(default_factory=tuple)

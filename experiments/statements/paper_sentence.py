"""Statements of findings whose numbers stand in the record of a claim."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.statements.finding import Evidence, Measured, Missing, Published, Statement
from experiments.statements.rule import Rule
from reports.statements.claim_record import ClaimMeasure, ClaimRecord
from reports.statements.figure import Figure, Point

IN_WORDS = Published(text="said in words")

AGREEMENT = "agreement"
"Measure of a claim: accuracy on minimal pairs, 0.5 by chance."

LEARNED = 0.75
"Accuracy above which agreement counts as learned."


@dataclass(frozen=True)
class InClaim:
    """The measure of a statement that a claim makes."""

    claim: str
    opening: str
    "How the statement in the record of the claim begins; one that has a place on an axis ends with `ending`."
    ending: str = ""
    learned: str = ""
    """The condition with which all others are compared: where it has not learned agreement itself there is no number,
    for nothing that is done to the others can do harm."""
    at: float | None = None
    "In the place of a statement: the place on the axis of the measure that `opening` names."

    def __call__(self, evidence: Evidence) -> Measured:
        """Return the number that decides; raises Missing where the claim has none."""
        claim: ClaimRecord = evidence[f"claim-{self.claim}"]
        if self.learned:
            _check_learned(claim, self.learned)
        for one in claim.statements if self.at is None else ():
            if one.text.startswith(self.opening) and one.text.endswith(self.ending):
                return Measured(one.estimate, note=one.number)
        for cell in _measure(claim, self.opening).cells if self.at is not None else ():
            if cell.at == self.at:
                return Measured(cell.number)
        what = f"statement {self.opening!r}" if self.at is None else f"{self.opening!r} at {self.at:g}"
        raise Missing(f"the claim {claim.claim} has no {what}")


def sentence(
    claim: str,
    name: str,
    opening: str,
    text: str,
    rule: Rule,
    published: Published = IN_WORDS,
    *,
    ending: str = "",
    learned: str = "",
    at: float | None = None,
) -> Statement:
    """Return a sentence of the paper for which a statement in the record of a claim stands, see InClaim."""
    number = f"see the claim {claim}"
    measure = InClaim(claim, opening, ending, learned, at)
    return Statement(name, text, number, rule, published, shown=rule.unit, measure=measure)


def drawn_claim(evidence: Evidence, claim: str, measure: str, title: str, across: str, up: str) -> Figure:
    """Return a line for each condition of a measure of a claim, over the places of its axis."""
    series: dict[str, list[Point]] = {}
    for cell in _measure(evidence[f"claim-{claim}"], measure).cells:
        series.setdefault(cell.condition, []).append(cell.number.at(float(cell.at or 0)))
    return Figure("lines", title, across, up, series)


def _measure(claim: ClaimRecord, name: str) -> ClaimMeasure:
    for one in claim.measures:
        if one.name == name:
            return one
    raise Missing(f"the claim {claim.claim} has no {name!r}")


def _check_learned(claim: ClaimRecord, condition: str) -> None:
    """Raise Missing where agreement is not surely above LEARNED at the end."""
    cells = _measure(claim, AGREEMENT).cells
    last = max((one for one in cells if one.condition == condition), key=lambda one: one.at or 0.0).number
    if not last.low > LEARNED:
        accuracy = f"{last.value:.3f} [{last.low:.3f}, {last.high:.3f}]"
        raise Missing(f"accuracy of “{condition}” on agreement is {accuracy}, not significantly above {LEARNED}")

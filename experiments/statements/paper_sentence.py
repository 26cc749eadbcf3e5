"""A sentence of a paper that a statement in the record of a claim stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Measured, Missing, Numbers, Published, Statement
from experiments.statements.rule import Rule
from reports.claims.record import ClaimRecord

IN_WORDS = Published(text="said in words")

AGREEMENT = "agreement"
"Measure of a claim: accuracy on minimal pairs, 0.5 by chance."

LEARNED = 0.75
"Accuracy above which agreement counts as learned."


@dataclass(frozen=True)
class PaperSentence:
    """A statement of a claim that stands for a sentence of the paper."""

    name: str
    opening: str
    "How the statement in the record of the claim begins; one that has a place on an axis ends with it."
    text: str
    rule: Rule
    unit: str
    ending: str = ""
    published: Published = IN_WORDS

    def measured_in(self, claim: ClaimRecord) -> Measured | Missing:
        """Return the number that decides it."""
        for one in claim.statements:
            if one.text.startswith(self.opening) and one.text.endswith(self.ending):
                number = one.estimate
                return Measured(Estimate(number.value, number.low, number.high, number.n), note=one.number)
        return Missing(f"the claim {claim.claim} has no statement {self.opening!r}")

    def statement(self, claim: str) -> Statement:
        """Return it as a statement of a finding; `claim` is the name of the claim."""
        return Statement(
            name=self.name,
            text=self.text,
            number=f"see the claim {claim}",
            rule=self.rule,
            unit=self.unit,
            shown=self.unit,
            published=self.published,
        )


def measure_of(sentences: Sequence[PaperSentence], reading: str, *, learned: str = "") -> Callable[[Evidence], Numbers]:
    """Return the measure of a finding whose statements stand in the record of a claim; `learned` as in `numbers_of`."""

    def measure(evidence: Evidence) -> Numbers:
        return numbers_of(sentences, evidence[reading], learned=learned)

    return measure


def numbers_of(sentences: Sequence[PaperSentence], claim: ClaimRecord, *, learned: str = "") -> Numbers:
    """Return the number that decides each sentence, by its name.

    Missing where encoders under the condition `learned`, with which all others are compared, have not learned
    agreement themselves: then nothing that is done to them can do harm.
    """
    if learned and (why := _not_learned(claim, learned)):
        return {one.name: Missing(why) for one in sentences}
    return {one.name: one.measured_in(claim) for one in sentences}


def _not_learned(claim: ClaimRecord, condition: str) -> str:
    """Say that agreement is not surely above LEARNED at the end; empty where it is."""
    (agreement,) = (one for one in claim.measures if one.name == AGREEMENT)
    last = max((one for one in agreement.cells if one.condition == condition), key=lambda one: one.at or 0.0).number
    if last.low > LEARNED:
        return ""
    accuracy = f"{last.value:.3f} [{last.low:.3f}, {last.high:.3f}]"
    return f"accuracy of “{condition}” on agreement is {accuracy}, not significantly above {LEARNED}"

"""A sentence of a paper that a statement in the record of a claim stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.statements.estimates import Estimate
from experiments.statements.finding import Measured, Missing, Numbers, Published, Statement
from experiments.statements.rule import Rule
from reports.claims.record import ClaimRecord

IN_WORDS = Published(text="said in words")


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

    def found_in(self, claim: ClaimRecord) -> Measured | Missing:
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


def numbers_of(sentences: Sequence[PaperSentence], claim: ClaimRecord) -> Numbers:
    """Return the number that decides each sentence, by its name."""
    return {one.name: one.found_in(claim) for one in sentences}

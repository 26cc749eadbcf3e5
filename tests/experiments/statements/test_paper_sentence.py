import pytest

from experiments.statements.finding import Missing
from experiments.statements.paper_sentence import InClaim, drawn_claim
from reports.statements.claim_record import ClaimMeasure, ClaimRecord, ConditionMean
from reports.statements.statement import JudgedStatement, Number


def claim(low: float) -> ClaimRecord:
    """Return a claim in which accuracy of "all" is at chance at step 0, and has this lower end at step 8."""
    cells = [("all", 0.0, 0.5), ("all", 8.0, low), ("half", 8.0, 0.95)]
    made = tuple(ConditionMean(name, at, Number(end + 0.02, end, end + 0.04, 5, "%")) for name, at, end in cells)
    number = JudgedStatement("The half keeps nine tenths", "a ratio", "", "", Number(1, 0.9, 1.1, 5))
    return ClaimRecord((ClaimMeasure("agreement", "%", "seed", "step", made, ()),), (number,), record={"claim": "x"})


def test_nothing_is_decided_where_the_encoders_compared_with_have_not_learned_agreement() -> None:
    kept = InClaim("x", "The half keeps", learned="all")
    assert kept({"claim-x": claim(0.76)}).decides.value == 1
    with pytest.raises(Missing) as missing:
        kept({"claim-x": claim(0.75)})
    assert missing.value.why == "accuracy of “all” on agreement is 0.770 [0.750, 0.790], not significantly above 0.75"
    assert InClaim("x", "The half keeps")({"claim-x": claim(0.3)}).note == "a ratio", "other claims do not ask"


def test_a_measure_decides_at_a_place_of_its_axis() -> None:
    assert InClaim("x", "agreement", at=0.0)({"claim-x": claim(0.8)}).decides.value == 0.52


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (InClaim("x", "The half loses"), "the claim x has no statement 'The half loses'"),
        (InClaim("x", "The half keeps", "a tenth"), "the claim x has no statement 'The half keeps'"),
        (InClaim("x", "agreement", at=3.0), "the claim x has no 'agreement' at 3"),
        (InClaim("x", "loss", at=8.0), "the claim x has no 'loss'"),
    ],
)
def test_a_claim_that_says_something_else_has_no_number(asked: InClaim, why: str) -> None:
    with pytest.raises(Missing) as missing:
        asked({"claim-x": claim(0.8)})
    assert missing.value.why == why


def test_a_measure_is_drawn_with_a_line_a_condition() -> None:
    drawn = drawn_claim({"claim-x": claim(0.8)}, "x", "agreement", "Agreement", "step", "accuracy")
    assert drawn.points["all"] == [(0, 0.52, 0.5, 0.54), pytest.approx((8, 0.82, 0.8, 0.84))]
    assert [*drawn.points] == ["all", "half"]

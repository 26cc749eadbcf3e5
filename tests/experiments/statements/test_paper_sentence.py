from experiments.statements.finding import Measured, Missing
from experiments.statements.paper_sentence import PaperSentence, numbers_of
from experiments.statements.rule import Rule
from reports.claims.record import ClaimRecord, ConditionMean, Number, RecordedMeasure, RecordedStatement

SENTENCES = [PaperSentence("kept", "The half keeps", "What is left keeps it.", Rule(above=0.9), "times")]


def claim(low: float) -> ClaimRecord:
    """Return a claim in which accuracy of "all" is at chance at step 0, and has this lower end at step 8."""
    cells = [("all", 0.0, 0.5), ("all", 8.0, low), ("half", 8.0, 0.95)]
    made = tuple(ConditionMean(name, at, Number(end + 0.02, end, end + 0.04, 5, "%")) for name, at, end in cells)
    number = RecordedStatement("The half keeps nine tenths", "a ratio", "", "", Number(1, 0.9, 1.1, 5, ""), "claim", "")
    return ClaimRecord({"claim": "x"}, (number,), (RecordedMeasure("agreement", "%", "seed", "step", made, ()),))


def test_nothing_is_decided_where_the_encoders_compared_with_have_not_learned_agreement() -> None:
    assert isinstance(numbers_of(SENTENCES, claim(0.76), learned="all")["kept"], Measured)
    missing = numbers_of(SENTENCES, claim(0.75), learned="all")["kept"]
    assert isinstance(missing, Missing)
    assert missing.why == "accuracy of “all” on agreement is 0.770 [0.750, 0.790], not significantly above 0.75"
    assert isinstance(numbers_of(SENTENCES, claim(0.3))["kept"], Measured), "other claims do not ask"

from reports.claims.record import ClaimRecord, ConditionMean, Number, RecordedMeasure, RecordedStatement


def _patterns(loss: float, agreement: float, across: float):
    """A claim with these numbers, and intervals of a hundredth to either side."""
    lose = "Encoders with seven fixed patterns lose less than 2 points of agreement"
    told = {
        "Encoders with seven fixed patterns reach a loss that is less than 5 % higher": loss,
        lose: agreement,
        f"{lose} across a noun of the other number": across,
    }
    statements = tuple(
        RecordedStatement(text, "what is measured", "", "", number, "claim", "")
        for text, value in told.items()
        for number in [Number(value, value - 0.005, value + 0.005, 5, "")]
    )
    cells = tuple(ConditionMean(name, None, Number(0.9, 0.8, 1.0, 5, "%")) for name in ("learnt", "7 of 8 fixed"))
    return {"claim-patterns": ClaimRecord({}, statements, (RecordedMeasure("agreement", "%", "seed", "", cells, ()),))}


PLANTED = {"raganato-fixed": (_patterns(1.01, 0.0, 0.01), _patterns(1.2, -0.1, -0.2))}

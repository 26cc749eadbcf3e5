from reports.claims.record import ClaimRecord, ConditionMean, Number, RecordedMeasure, RecordedStatement


def _subnetworks(good: float, bad: float, worse: float, fresh: float):
    """A claim with these numbers, and intervals of a hundredth to either side."""
    keeps = "keeps nine tenths of the agreement of all heads"
    told = {
        f"The good half, trained further, {keeps}": good,
        f"The bad half, trained further, {keeps}": bad,
        "After retraining the bad half still has a higher loss than the good half": worse,
        "The bad half, trained further, has a lower loss than as many randomly initialised heads": fresh,
    }
    statements = tuple(
        RecordedStatement(text, "what is measured", "", "", number, "claim", "")
        for text, value in told.items()
        for number in [Number(value, value - 0.01, value + 0.01, 5, "")]
    )
    number = Number(0.8, 0.7, 0.9, 5, "%")
    cells = tuple(ConditionMean(f"good half, {when} retraining", None, number) for when in ("before", "after"))
    return {
        "claim-subnetworks": ClaimRecord({}, statements, (RecordedMeasure("agreement", "%", "seed", "", cells, ()),))
    }


HOLDS, FAILS = _subnetworks(0.98, 0.95, 0.1, -0.5), _subnetworks(0.7, 0.6, -0.1, 0.1)

PLANTED = {"prasanna-good": (HOLDS, FAILS), "prasanna-bad": (HOLDS, FAILS)}

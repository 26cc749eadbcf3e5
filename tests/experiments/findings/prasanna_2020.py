from reports.claims.record import ClaimRecord, ConditionMean, Number, RecordedMeasure, RecordedStatement


def _subnetworks(good: float, bad: float, worse: float, reset: float):
    """A claim with these numbers, and intervals of a hundredth to either side."""
    keeps = "keeps nine tenths of the agreement beyond chance of all heads"
    told = {
        f"The good half, trained further, {keeps}": good,
        f"The bad half, trained further, {keeps}": bad,
        "After retraining the bad half still has a higher loss than the good half": worse,
        "After retraining a random half has a higher loss than the good half": worse,
        "The bad half, trained further, has a lower loss than randomly initialised heads in its place": reset,
    }
    statements = tuple(
        RecordedStatement(text, "what is measured", "", "", number, "claim", "")
        for text, value in told.items()
        for number in [Number(value, value - 0.01, value + 0.01, 5, "")]
    )
    number = Number(0.9, 0.8, 1.0, 5, "%")
    conditions = [f"{name}, {when} retraining" for name in ("all heads", "good half") for when in ("before", "after")]
    cells = tuple(ConditionMean(condition, None, number) for condition in conditions)
    return {
        "claim-subnetworks": ClaimRecord({}, statements, (RecordedMeasure("agreement", "%", "seed", "", cells, ()),))
    }


HOLDS, FAILS = _subnetworks(0.98, 0.95, 0.1, -0.5), _subnetworks(0.7, 0.6, -0.1, 0.1)

PLANTED = {"prasanna-good": (HOLDS, FAILS), "prasanna-bad": (HOLDS, FAILS)}

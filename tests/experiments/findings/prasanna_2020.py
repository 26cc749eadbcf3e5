from tests.experiments.findings.planted import claimed, measured


def _subnetworks(good: float, bad: float, worse: float, reset: float):
    keeps = "keeps nine tenths of the agreement beyond chance of all heads"
    return claimed(
        "claim-subnetworks",
        {
            f"The good half, trained further, {keeps}": good,
            f"The bad half, trained further, {keeps}": bad,
            "After retraining the bad half still has a higher loss than the good half": worse,
            "After retraining a random half has a higher loss than the good half": worse,
            "The bad half, trained further, has a lower loss than randomly initialised heads in its place": reset,
        },
        measured("agreement", ("all heads, after retraining", None)),
    )


HOLDS, FAILS = _subnetworks(0.98, 0.95, 0.1, -0.5), _subnetworks(0.7, 0.6, -0.1, 0.1)

PLANTED = {"prasanna-good": (HOLDS, FAILS), "prasanna-bad": (HOLDS, FAILS)}

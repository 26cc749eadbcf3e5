from tests.experiments.findings.planted import claimed, measured


def _patterns(loss: float, agreement: float, across: float):
    lose = "Encoders with seven fixed patterns lose less than 2 points of agreement"
    return claimed(
        "claim-patterns",
        {
            "Encoders with seven fixed patterns reach a loss that is less than 5 % higher": loss,
            lose: agreement,
            f"{lose} across a noun of the other number": across,
        },
        measured("agreement", ("learnt", None)),
    )


PLANTED = {"raganato-fixed": (_patterns(1.01, 0.0, 0.01), _patterns(1.2, -0.1, -0.2))}

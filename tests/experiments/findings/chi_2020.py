from tests.experiments.findings.planted import claimed


def _moved(row: float, untrained: float, together: float, kept: float):
    return claimed(
        "claim-language-trees",
        {
            "A structural probe trained on another language has a higher UUAS than the chain of adjacent words": row,
            "It has a higher UUAS than a structural probe of untrained weights trained on another language": untrained,
            "Trained on all other languages together, it has a higher UUAS than the chain of adjacent words": together,
            "Trained on all others together, it keeps more than two thirds of the gain of a probe of the "
            "language itself": kept,
        },
    )


PLANTED = {"chi-transfer": (_moved(0.1, 0.2, 0.1, 0.02), _moved(-0.1, -0.1, -0.1, -0.05))}

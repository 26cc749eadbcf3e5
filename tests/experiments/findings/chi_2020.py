from tests.experiments.findings.planted import claimed


def _moved(row: float, untrained: float, together: float, kept: float):
    return claimed(
        "claim-language-trees",
        {
            "A projection of states that was learned in another language attaches more than words in a row": row,
            "It attaches more than a projection of untrained weights that was learned in another language": untrained,
            "Learned in all other languages together, it attaches more than words in a row": together,
            "Learned in all others together, it keeps more than two thirds of the gain of one learned in the "
            "language itself": kept,
        },
    )


PLANTED = {"chi-transfer": (_moved(0.1, 0.2, 0.1, 0.02), _moved(-0.1, -0.1, -0.1, -0.05))}

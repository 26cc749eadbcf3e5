from tests.experiments.findings.planted import claimed


def _moved(row: float, untrained: float, kept: float):
    return claimed(
        "claim-language-trees",
        {
            "A projection of states that was learned in another language attaches more than words in a row": row,
            "It attaches more than one of untrained weights that was learned in another language": untrained,
            "It keeps two thirds of what a projection of the language itself gains over words in a row": kept,
        },
    )


PLANTED = {"chi-transfer": (_moved(0.1, 0.2, 0.8), _moved(-0.1, -0.1, 0.4))}

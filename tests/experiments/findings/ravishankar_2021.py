from tests.experiments.findings.planted import claimed, planted_run, scored


def _all(margin: float):
    return {"trees": planted_run([scored("dependency", "all", margin=margin)])}


def _languages(value: float):
    return claimed(
        "claim-language-trees",
        {
            "A single head attaches more than words in a row": value,
            "A single head attaches more than the best one of untrained weights": value,
            "A head that was selected in another language attaches more than words in a row": value,
            "Heads that attach much in one language do so in others, more than with untrained weights": value,
        },
    )


PLANTED = {
    "ravishankar-single-heads": (_all(0.1), _all(-0.1)),
    **{f"ravishankar-{name}": (_languages(0.1), _languages(-0.1)) for name in ("trees", "languages")},
}

from tests.experiments.findings.planted import claimed, planted_run, scored


def _all(margin: float):
    return {"trees": planted_run([scored("dependency", "all", margin=margin)])}


def _languages(value: float):
    return claimed(
        "claim-language-trees",
        {
            "On average over languages a single head attaches more than words in a row": value,
            "On average it attaches more than the best head of untrained weights": value,
            "On average a head that was selected in another language attaches more than words in a row": value,
            "Heads that attach distant words in one language do so in others, more than untrained heads": value,
        },
    )


PLANTED = {
    "ravishankar-single-heads": (_all(0.1), _all(-0.1)),
    **{f"ravishankar-{name}": (_languages(0.1), _languages(-0.1)) for name in ("trees", "languages")},
}

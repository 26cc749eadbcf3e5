from tests.experiments.findings.planted import claimed, planted_run, scored


def _all(margin: float):
    return {"trees": planted_run([scored("dependency", "all", margin=margin)])}


def _languages(value: float):
    return claimed(
        "claim-language-trees",
        {
            "On average over languages the tree of a single head has a higher UUAS than the chain of adjacent "
            "words": value,
            "On average it has a higher UUAS than the best head of untrained weights": value,
            "On average a head selected in another language has a higher UUAS than the chain of adjacent words": value,
            "UUAS without adjacent words correlates over heads between languages, more than with untrained "
            "weights": value,
        },
    )


PLANTED = {
    "ravishankar-single-heads": (_all(0.1), _all(-0.1)),
    **{f"ravishankar-{name}": (_languages(0.1), _languages(-0.1)) for name in ("trees", "languages")},
}

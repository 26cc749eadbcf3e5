from tests.experiments.findings.planted import claimed, planted_run, scored


def _repeated(variant: str, margin: float):
    return {"coreference": planted_run([scored("repetition", "all", variant=variant, margin=margin)])}


def _decoders(two: float, one: float, short: float, fall: float, score: float, left: float):
    return claimed(
        "claim-induction",
        {
            "With two layers a head attends to what followed the same piece before": two,
            "With one layer of the same size no head does": one,
            "The head arises within half of the steps that it took to begin": short,
            "While the head arises, the in-context learning score falls": fall,
            "Without its induction head a decoder has less in-context learning than without another head": score,
            "The induction head is built on a head that attends to the token before": left,
        },
    )


GROWN, NOT = _decoders(0.8, 0.02, 0.1, -0.3, 0.2, -0.5), _decoders(0.1, 0.3, 0.6, 0.1, -0.1, 0.1)

PLANTED = {
    **{f"olsson-{name}": (GROWN, NOT) for name in ("depth", "phase-change", "ablation")},
    **{
        f"olsson-{name}": (_repeated(variant, 0.3), _repeated(variant, -0.1))
        for name, variant in (("same-word", "same word"), ("induction", "word after"))
    },
}

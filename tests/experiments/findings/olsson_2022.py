from tests.experiments.findings.planted import planted_run, scored


def _repeated(variant: str, margin: float):
    return {"coreference": planted_run([scored("repetition", "all", variant=variant, margin=margin)])}


PLANTED = {
    f"olsson-{name}": (_repeated(variant, 0.3), _repeated(variant, -0.1))
    for name, variant in (("same-word", "same word"), ("induction", "word after"))
}

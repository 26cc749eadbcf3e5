from tests.experiments.findings.planted import planted_run, scored


def _relations(heads: int, each: int):
    """Of ten heads the first `heads` are specialised in `each` relations."""
    labels = ("nsubj", "obj", "amod", "det")
    rows = [
        scored("dependency", label, head=head, specialised=head < heads and number < each)
        for head in range(10)
        for number, label in enumerate(labels)
    ]
    pools = [scored("dependency", label, specialised=True) for label in ("all", "nsubj:*")]
    return {"trees": planted_run([*rows, *pools])}


PLANTED = {"vaswani-one-relation": (_relations(10, 1), _relations(2, 3))}

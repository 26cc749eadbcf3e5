from tests.experiments.findings.planted import planted_run, shaped


def _entropies(lowest: float):
    """Plant a head that is low on the report split alone: it is not the one that is told."""
    rows = []
    for split, other in (("select", 2.0), ("report", 0.02)):
        rows += [
            shaped("entropy", "all tokens", 0, head, value, split=split) for head, value in enumerate((lowest, 1.5))
        ]
        rows.append(shaped("entropy", "all tokens", 0, 2, other, split=split))
    return {"trees": planted_run(shapes=rows)}


PLANTED = {"hf-one-hot": (_entropies(0.05), _entropies(0.8))}

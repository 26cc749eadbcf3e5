from tests.experiments.findings.planted import planted_run


def _codes(ratio: float):
    """Plant ten heads, of which some compress more than others, in three draws."""
    rows = [
        {"task": "part of speech", "draw": draw, "name": f"1-{head + 1}", "control_compression": 1.1}
        | {"compression": 1.1 * ratio * (1 + head / 1000 + draw / 1000)}
        for draw in range(3)
        for head in range(10)
    ]
    return {"classifiers": planted_run(codes=rows)}


PLANTED = {"voita-codes": (_codes(1.4), _codes(1.0))}

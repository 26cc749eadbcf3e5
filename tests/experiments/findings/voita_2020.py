from tests.experiments.findings.planted import planted_run


def _codes(ratio: float):
    """Plant ten heads, of which some compress more than others."""
    rows = [
        {"task": "part of speech", "name": f"1-{head + 1}", "selected": head == 9, "control_compression": 1.1}
        | {"compression": 1.1 * ratio * (1 + head / 1000)}
        for head in range(10)
    ]
    return {"classifiers": planted_run(classifiers=rows)}


PLANTED = {"voita-codes": (_codes(1.4), _codes(1.0))}

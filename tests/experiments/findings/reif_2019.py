from tests.experiments.findings.planted import planted_run


def _told(there: float, which: float):
    rows = [
        {"task": task, "labels": labels, "value": value, "low": value - 0.01, "high": value + 0.01, "n": 2000}
        | {"distance": 0.7, "majority": 0.5}
        for task, labels, value in (("relation or not", 2, there), ("which relation", 30, which))
    ]
    return {"probing": planted_run(pair_probes=rows)}


PLANTED = {"reif-attention-probe": (_told(0.9, 0.8), _told(0.48, 0.02))}

from tests.experiments.findings.planted import planted_run, scored

LOSS = "masked-LM loss"


def _paths(lost: float):
    """Gates that leave 1 or 9 of 10 heads; with 1 `lost` is lost, with 9 half of it."""
    rows = [
        {"behaviour": "grammar", "measure": "accuracy", "left": left, "heads": 10, "n": 300, "intact": 0.95}
        | {"value": 0.95 - cost, "cost": cost, "ci_low": cost - 0.005, "ci_high": cost + 0.005}
        for left, cost in ((1, lost), (9, lost / 2))
    ]
    return {"grammar-effects": planted_run(gate_paths=rows)}


def _gates(special: float, others: float):
    """Ten heads; the first five find the next word, and each is open where its gate is above 0."""
    scores = [scored("position", "next", head=head, grade=int(head < 5)) for head in range(10)]
    gates = [
        {"behaviour": LOSS, "price": price, "name": f"1-{head + 1}", "gate": special if head < 5 else others}
        for head in range(10)
        for price in (0.1, 0.2)
    ]
    return {"grammar-effects": planted_run(scores, gates=gates)}


def _functions(lost: float):
    scores = [scored("dependency", label, grade=1) for label in ("nsubj", "obj", "amod")]
    rows = [
        {"behaviour": LOSS, "probe": one["probe"], "label": one["label"], "variant": one["variant"], "heads": 10}
        | {"removed": 6, "stays": False, "best_accuracy": 0.8, "after_accuracy": 0.8 - lost}
        for one in scores
    ]
    return {"grammar-effects": planted_run(scores, migration=rows)}


PLANTED = {
    "voita-gates": (_paths(0.0), _paths(0.2)),
    "voita-specialised-survive": (_gates(1.0, 0.0), _gates(0.0, 1.0)),
    "voita-functions-kept": (_functions(0.02), _functions(0.5)),
}

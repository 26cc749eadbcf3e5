from tests.experiments.findings.planted import planted_run, shaped

LAYERS, HEADS = 4, 3

CLASSES = ("vertical", "diagonal", "vertical + diagonal", "block", "heterogeneous")


def _maps(kind: str, measures):
    """Return shapes of all heads; of each measure a value a layer."""
    rows = [
        shaped(kind, measure, layer, head, value)
        for measure, values in measures.items()
        for layer, value in enumerate(values)
        for head in range(HEADS)
    ]
    return {"trees": planted_run(shapes=rows)}


def _classes(heterogeneous: float, vertical: float):
    shares = dict.fromkeys(CLASSES, 0.05) | {"heterogeneous": heterogeneous, "vertical": vertical}
    return _maps("class", {name: (share,) * LAYERS for name, share in shares.items()})


def _disabled(cost: float, p: float):
    row = {"way": "uniform", "measure": "value", "cost": cost, "p_adjusted": p}
    harmless = row | {"cost": 0.3, "p_adjusted": 0.001}
    rows = [row | {"kind": "head", "name": "1-2"}, row | {"kind": "layer", "name": "2"}]
    rows += [harmless | {"kind": "head", "name": "1-1"}, harmless | {"kind": "layer", "name": "1"}]
    rows += [row | {"kind": "head", "name": "1-1", "way": "zero", "cost": -1.0, "p_adjusted": 0.001}]
    return {"disabling": planted_run(ablations=rows)}


def _drift(early: float, late: float):
    """Cosines of the first four layers, and of the two last, with some noise."""
    rows = [
        {"text": text, "layer": layer, "head": head, "cosine": (early if layer < 4 else late) + 0.01 * (-1) ** text}
        for text in range(20)
        for layer in range(6)
        for head in range(3)
    ]
    return {"fine-tuned": planted_run(drift=rows)}


def _answers(tuned: int, fresh: int):
    def run(right: int):
        rows = [{"text": i, "answer": "plural", "log_odds": 1.0 if i < right else -1.0} for i in range(200)]
        return planted_run(answers=rows)

    return {"fine-tuned": run(tuned), "fine-tuned-fresh": run(fresh)}


PLANTED = {
    "kovaleva-classes": (_classes(0.5, 0.3), _classes(0.9, 0.05)),
    "kovaleva-special-tokens": (
        _maps("attention", {"[CLS]": (0.5, 0.4, 0.1, 0.1), "[SEP]": (0.1, 0.1, 0.5, 0.6)}),
        _maps("attention", {"[CLS]": (0.1, 0.1, 0.4, 0.4), "[SEP]": (0.3, 0.3, 0.1, 0.1)}),
    ),
    "kovaleva-disabling": (_disabled(-0.2, 0.01), _disabled(-0.2, 0.3)),
    "kovaleva-fine-tuning-layers": (_drift(0.95, 0.7), _drift(0.7, 0.95)),
    "kovaleva-fine-tuning-worth": (_answers(190, 100), _answers(140, 180)),
}

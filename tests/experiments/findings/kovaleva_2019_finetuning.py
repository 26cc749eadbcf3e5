from tests.experiments.findings.planted import planted_run


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
    "kovaleva-fine-tuning-layers": (_drift(0.95, 0.7), _drift(0.7, 0.95)),
    "kovaleva-fine-tuning-worth": (_answers(190, 100), _answers(140, 180)),
}

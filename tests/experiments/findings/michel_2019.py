import math

from tests.experiments.findings.planted import planted_run

TASKS = (("grammar", "accuracy"), ("masked-LM loss", "value"))


def _ablated(few: int, adjusted: float, heads: int = 10):
    """Heads, of which some matter."""
    rows = [
        {"behaviour": behaviour, "measure": measure, "kind": "head", "way": "zero", "layer": 0, "head": head}
        | {"name": f"1-{head + 1}", "cost": 0.1, "ci_low": 0.05, "ci_high": 0.15}
        | {"p": 0.001 if head < few else 0.4, "p_adjusted": adjusted if head < few else 0.9}
        for behaviour, measure in TASKS
        for head in range(heads)
    ]
    return {"grammar-effects": planted_run(ablations=rows)}


def _curve(behaviour: str, measure: str, free: int, order: str = "importance"):
    """A behaviour that loses nothing until `free` of ten heads are out, and then a tenth by each."""
    rows = []
    for removed in range(11):
        cost = max(0, removed - free) / 10
        told = {"behaviour": behaviour, "measure": measure, "order": order, "draw": 0, "removed": removed, "heads": 10}
        interval = (cost - 0.01, cost + 0.01) if removed else (math.nan, math.nan)
        rows.append(told | {"n": 300, "value": 1 - cost, "cost": cost, "ci_low": interval[0], "ci_high": interval[1]})
    return rows


def _area(behaviour: str, measure: str, gain: float):
    row = {"behaviour": behaviour, "measure": measure, "order": "importance", "n": 300, "area": 0.9, "gain": gain}
    return row | {"random_least": 0.7, "random_most": 0.8, "ci_low": gain - 0.02, "ci_high": gain + 0.02}


def _order(free: int, gain: float):
    pruning = [*_curve(*TASKS[0], free), *_curve(*TASKS[0], 0, "random")]
    areas = [_area(*task, gain) for task in TASKS]
    return {"grammar-effects": planted_run(pruning=pruning, pruning_areas=areas)}


def _embedding(gain: float):
    return {"effects": planted_run(pruning_areas=[_area("sentence embedding", "value", gain)])}


def _taylor(rho: float):
    row = {"behaviour": "sentence embedding", "spearman": rho, "n": 300}
    return {"effects": planted_run(taylor=[row | {"spearman_low": rho - 0.05, "spearman_high": rho + 0.05}])}


def _costs(sign: int):
    def run(factor: int):
        return planted_run(importance=[{"layer": 0, "head": head, "cost": 0.1 * factor * head} for head in range(12)])

    return {"effects": run(1), "transfer": run(sign)}


def _training(early: int, late: int):
    curves = {"emergence-early": early, "emergence": late}
    return {name: planted_run(pruning=_curve("masked-LM loss", "value", free)) for name, free in curves.items()}


QUESTIONS = 200


def _left(right: int):
    """All questions are right with all heads; with head 2 of a layer `right` of 100 are, with the others none."""
    answers = [{"text": text, "answer": "plural", "log_odds": 1.0} for text in range(QUESTIONS)]
    rows = [
        {"text": text, "layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}"}
        | {"log_odds": 1.0 if head == 1 and text // 2 % 100 < right else -1.0}
        for text in range(QUESTIONS)
        for layer in range(12)
        for head in range(3)
    ]
    return {"fine-tuned": planted_run(answers=answers, one_head=rows)}


PLANTED = {
    "michel-few-heads": (_ablated(1, 0.01, 100), _ablated(10, 0.5)),
    "michel-importance-order": (_order(4, 0.1), _order(0, -0.1)),
    "michel-order-embedding": (_embedding(0.1), _embedding(-0.1)),
    "michel-importance-is-cost": (_taylor(0.9), _taylor(0.1)),
    "michel-transfer": (_costs(1), _costs(-1)),
    "michel-training": (_training(0, 6), _training(6, 1)),
    "michel-one-head": (_left(100), _left(60)),
}

from tests.experiments.findings.planted import claimed, measured, planted_run

STEPS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)


def _run(syntax: int, loss: int, agreement: int):
    """Three seeds in which each of three courses jumps at a step."""
    about = {"probe": "dependency", "label": "obj", "variant": "dependent->head", "name": "1-1"}
    steps, curves, scores = [], [], []
    for seed in range(3):
        late = 2 if seed == 2 else 1  # the third seed is twice as slow
        for step in STEPS:
            place = {"seed": seed, "step": step}
            reached = {name: step >= at * late for name, at in (("s", syntax), ("l", loss), ("a", agreement))}
            steps.append(
                place | {"evaluation_loss": 2.0 if reached["l"] else 7.0, "behaviour": 0.5 + 0.4 * reached["a"]}
            )
            curves.append(place | about | {"margin": 0.0})
            scores.append(place | about | {"n": 100, "accuracy": 0.2 + 0.5 * reached["s"]})
    tables = {"biography_steps": steps, "biography_curves": curves, "biographies": scores}
    return {"emergence": planted_run(**tables)}


def _syntax(blocked: float, across: float, early: float, promoted: float):
    """A claim in which accuracies change by this much, and losses by as much the other way round."""
    told = {
        "Punished throughout, agreement is worse than where attention on control arcs is punished": blocked,
        "Punished throughout, agreement across a noun of the other number is not learnt": across,
        "Punished to step 300 alone, agreement is better at the end": early,
        "Punished to step 300 alone, the loss is lower at the end": -early,
        "Rewarded throughout, agreement is worse at the end": promoted,
        "Rewarded throughout, the loss is higher at the end": -promoted,
    }
    return claimed("claim-syntax", told, measured("agreement", ("no term", 400.0), ("punished", 400.0)))


HOLDS, FAILS = _syntax(-0.2, 0.5, 0.05, -0.05), _syntax(0.02, 0.9, -0.05, 0.05)

PLANTED = {
    "chen-order": (_run(8, 8, 64), _run(32, 2, 8)),
    "chen-suppression": (HOLDS, FAILS),
    "chen-early-suppression": (HOLDS, FAILS),
    "chen-promotion": (HOLDS, FAILS),
}

from tests.experiments.findings.planted import planted_run

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


PLANTED = {"chen-order": (_run(8, 8, 64), _run(32, 2, 8))}

from tests.experiments.findings.planted import decided, planted_run


def _right(overall: float, none: float, four: float):
    numbers = ((0, none), (4, four))
    rows = [decided("linzen", accuracy, "attractors", attractors=attractors) for attractors, accuracy in numbers]
    return {"pairs": planted_run(behaviour=[decided("linzen", overall), *rows])}


PLANTED = {"linzen-attractors": (_right(0.96, 0.95, 0.7), _right(0.4, 0.3, 0.6))}

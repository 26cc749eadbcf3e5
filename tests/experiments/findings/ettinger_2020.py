from tests.experiments.findings.planted import decided, planted_run


def _run(affirmed: float, negated: float, roles: float):
    rows = [decided("negation", affirmed, "condition", condition="affirmed")]
    rows += [decided("negation", negated, "condition", condition="negated"), decided("role-reversal", roles)]
    return {"negation-and-roles": planted_run(behaviour=rows)}


HOLDS, FAILS = _run(0.97, 0.02, 0.9), _run(0.4, 0.8, 0.4)

PLANTED = {"ettinger-negation": (HOLDS, FAILS), "ettinger-roles": (HOLDS, FAILS)}

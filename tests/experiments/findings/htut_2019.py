from tests.experiments.findings.planted import planted_run, scored

RELATIONS = ("nsubj", "obj", "advmod", "amod")


def _relations(margin: float):
    return {"trees": planted_run([scored("dependency", label, margin=margin) for label in RELATIONS])}


def _all(margin: float):
    return {"trees": planted_run([scored("dependency", "all", margin=margin)])}


PLANTED = {
    "htut-relations": (_relations(0.1), _relations(-0.1)),
    "htut-no-generalist": (_all(0.05), _all(0.4)),
}

from tests.experiments.findings.planted import all_arcs, planted_run, scored

RELATIONS = ("nsubj", "obj", "advmod", "amod")


def _relations(margin: float):
    return {"trees": planted_run([scored("dependency", label, margin=margin) for label in RELATIONS])}


PLANTED = {
    "htut-relations": (_relations(0.1), _relations(-0.1)),
    "htut-no-generalist": (all_arcs(0.05), all_arcs(0.4)),
}

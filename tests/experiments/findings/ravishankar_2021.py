from tests.experiments.findings.planted import all_arcs

PLANTED = {"ravishankar-single-heads": (all_arcs(0.1), all_arcs(-0.1))}

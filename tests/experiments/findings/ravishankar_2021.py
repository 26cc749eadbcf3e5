from tests.experiments.findings.planted import planted_run, scored


def _all(margin: float):
    return {"trees": planted_run([scored("dependency", "all", margin=margin)])}


PLANTED = {"ravishankar-single-heads": (_all(0.1), _all(-0.1))}

from tests.experiments.findings.planted import decided, planted_run

ACROSS = ("agr.4", "agr.6", "agr.8", "agr.10", "agr.12", "agr.14", "agr.16", "agr.18")


def _between(simple: float, across: float):
    rows = [decided("opensesame", across, "paradigm", paradigm=name) for name in ACROSS]
    return {
        "constructions": planted_run(behaviour=[decided("opensesame", simple, "paradigm", paradigm="agr.0"), *rows])
    }


PLANTED = {"marvin-between": (_between(0.95, 0.7), _between(0.7, 0.95))}

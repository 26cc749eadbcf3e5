from tests.experiments.findings.planted import decided, planted_run

FILES = ("agr.0", "agr.4", "agr.6", "agr.8", "agr.10", "agr.12", "agr.14", "agr.16", "agr.18", "refl.0", "refl.4")


def _nonce(accuracy: float):
    rows = [decided("goldberg", accuracy, "attractors", attractors=number) for number in (0, 1, 2)]
    return {"pairs": planted_run(behaviour=[decided("goldberg", accuracy), *rows])}


def _attracted(*accuracies: float):
    numbers = enumerate(accuracies, start=1)
    rows = [decided("linzen", accuracy, "attractors", attractors=number) for number, accuracy in numbers]
    return {"pairs": planted_run(behaviour=rows)}


def _constructions(accuracy: float):
    rows = [decided("opensesame", accuracy, "paradigm", paradigm=name) for name in FILES]
    return {"constructions": planted_run(behaviour=rows)}


PLANTED = {
    "goldberg-nonce": (_nonce(0.95), _nonce(0.4)),
    "goldberg-attractors": (_attracted(0.99, 1.0, 1.0, 1.04), _attracted(0.45, 0.4, 0.35, 0.3)),
    "goldberg-constructions": (_constructions(1.05), _constructions(0.4)),
}

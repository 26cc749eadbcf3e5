from experiments.findings.limisiewicz_2020 import TABLE, VARIANTS
from tests.experiments.findings.planted import planted_run, scored


def _heads(margin: float, compound: float):
    return {
        "trees": planted_run(
            [
                scored(
                    "dependency",
                    label,
                    variant=VARIANTS.get(label, "head<-dependent"),
                    margin=compound if label == "compound" else margin,
                )
                for label in TABLE
            ]
        )
    }


def _ensembles(gain: float, margin: float, compound: float):
    """Plant an ensemble of two a relation, and beside it the single head with which it began."""
    rows = []
    for label in TABLE:
        above = compound if label == "compound" else margin
        row = {"probe": "dependency", "label": label, "variant": "dependent->head", "n": 300, "baseline": "offset"}
        row |= {"baseline_accuracy": 0.4, "accuracy": 0.4 + above, "ci_low": 0.38 + above, "ci_high": 0.42 + above}
        row |= {"margin": above, "margin_low": above - 0.02, "margin_high": above + 0.02}
        row |= {"gain": gain, "gain_low": gain - 0.02, "gain_high": gain + 0.02}
        rows += [row | {"size": 1, "heads": "1-1", "selected": False}, row | {"heads": "1-1 1-2", "selected": True}]
    return {"trees": planted_run(ensembles=rows)}


PLANTED = {
    "limisiewicz-heads": (_heads(0.1, 0.0), _heads(-0.1, 0.2)),
    "limisiewicz-ensembles": (_ensembles(0.1, 0.2, 0.0), _ensembles(0.1, -0.1, 0.2)),
}

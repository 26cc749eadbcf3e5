from collections.abc import Sequence

from tests.experiments.findings.planted import planted_run, scored

WEIGHTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85)
"Of twelve heads, on each special token."


def _special(norms: Sequence[float], total: float, weights: Sequence[float] = WEIGHTS):
    """Return heads with these weights on [CLS] and [SEP], and with these norms there of a total."""
    runs = {}
    for name, masses, whole in (("trees", weights, 1.0), ("norms", norms, total)):
        runs[name] = planted_run(
            [
                scored("position", label, layer=i // 4, head=i % 4, mass=mass, share=mass / whole, variant="all tokens")
                for label in ("[CLS]", "[SEP]")
                for i, mass in enumerate(masses)
            ]
        )
    return runs


PLANTED = {
    "kobayashi-separators": (
        _special([0.1 * weight for weight in WEIGHTS], 1.0),
        _special([0.9 * one for one in WEIGHTS], 1.0, [0.2 * one for one in WEIGHTS]),
    ),
    "kobayashi-cancelling": (
        _special([weight * (1 - weight) for weight in WEIGHTS], 2.0),
        _special([weight * (1 + weight) for weight in WEIGHTS], 2.0),
    ),
}

from typing import Any

from tests.experiments.findings.planted import planted_run


def _passes(whole: float, nets: float, alone: float) -> dict[str, Any]:
    """Return a reading whose states begin at 0.9 and have these relative residuals in both layers."""
    values = {"states: all parts": whole, "states: no feed-forward nets": whole}
    values |= {"states: no skip connections": nets, "states: attention alone": alone}
    rows = [
        {"measure": measure, "depth": depth, "value": at, "low": at - 0.005, "high": at + 0.005, "n": 90}
        for measure, value in values.items()
        for depth, at in enumerate((0.9, value, value))
    ]
    return {"mixing": planted_run(mixing=rows)}


PLANTED = {
    "dong-collapse": (_passes(0.8, 0.1, 0.01), _passes(0.4, 0.5, 0.5)),
    "dong-feed-forward": (_passes(0.8, 0.1, 0.01), _passes(0.8, 0.01, 0.1)),
}

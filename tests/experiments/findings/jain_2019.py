from collections.abc import Sequence
from typing import Any

from tests.experiments.findings.planted import planted_run

VALUES = {
    "accuracy": 0.9,
    "accuracy, uniform attention": 0.8,
    "highest weight": 0.7,
    "change, permuted": 0.05,
    "divergence, adversarial": 0.6,
    "flips, most attended alone": 0.1,
    "flips, random alone": 0.01,
    "flips, most attended": 0.1,
    "erased, by attention": 0.5,
    "erased, at random": 0.8,
    "erased, by attention and gradient": 0.3,
    "accuracy, guided: trained": 0.85,
    "accuracy, guided: uniform": 0.8,
    "accuracy, guided: adversarial": 0.75,
}
"A reading in which all that is claimed of attention as explanation holds."


def explained(**changed: float) -> dict[str, Any]:
    """Return a reading of five classifiers a thousandth apart; the names of measures have _ for what is no letter."""
    values = {measure: changed.get(_spoken(measure), value) for measure, value in VALUES.items()}
    rows = [
        {"seed": seed, "measure": measure, "value": value + 0.001 * ((seed * place) % 5), "n": 250}
        for place, (measure, value) in enumerate(values.items())
        for seed in range(5)
    ]
    return {"explanation": planted_run(explanation=rows, explanation_ranks=ranked())}


def ranked(taus: Sequence[float] = (0.3, 0.25, 0.75)) -> list[dict[str, Any]]:
    """Return rank correlations of five classifiers, a hundredth apart: with gradients, leaving out, between these."""
    pairs = ("attention and gradient", "attention and leaving out", "gradient and leaving out")
    return [
        {"seed": seed, "pair": pair, "tau": tau + 0.01 * (seed - 2), "significant": tau, "n": 250}
        | {"low": tau + 0.01 * (seed - 2) - 0.02, "high": tau + 0.01 * (seed - 2) + 0.02}
        for pair, tau in zip(pairs, taus, strict=True)
        for seed in range(5)
    ]


def correlated(*taus: float) -> dict[str, Any]:
    """Return a reading with these rank correlations."""
    found = explained()["explanation"]
    return {"explanation": planted_run(explanation=found.tables["explanation"], explanation_ranks=ranked(taus))}


def _spoken(measure: str) -> str:
    return "_".join("".join(letter if letter.isalpha() else " " for letter in measure).split())


PLANTED = {
    "jain-ranks": (correlated(0.3, 0.25, 0.75), correlated(0.8, 0.85, 0.7)),
    "jain-permuted": (explained(), explained(change_permuted=0.3)),
    "jain-adversarial": (explained(), explained(divergence_adversarial=0.2)),
}

"""A small record of the sandbox, whose numbers were set by hand."""

from __future__ import annotations

from typing import Any

HOSTILE = '<b>&"|</script>`'
SINGLE, FAMILY, ANY = "per head, uncorrected", "family-wise within a label, grade 1", "any false find in a run, grade 1"
LABELS, HIGHER = "labels with a false find, of labels with a find, grade 1", "any false find in a run, grade 3"
WRONG_NO = "no, where a head has the lead"


def rate(value: float, half: float = 0.01) -> dict[str, float]:
    return {"rate": value, "low": max(value - half, 0), "high": min(value + half, 1)}


def rates(single: float, family: float, higher: float = 0.0) -> dict[str, dict[str, float]]:
    values = (single, family, 0.03, 0.02, 0.01, higher)
    return dict(zip((SINGLE, FAMILY, ANY, LABELS, WRONG_NO, HIGHER), map(rate, values), strict=True))


def power(role: str, margin: float, documents: int, found: float, held: float, grade: int = 1) -> dict[str, Any]:
    return {
        "role": role,
        "grade": grade,
        "margin": margin,
        "true_accuracy": 0.6,
        "true_margin": margin + 0.004,
        "documents": documents,
        "items": 7.3 * documents,
        "runs": 1000,
        "graded": rate(found),
        "coverage": {name: rate(held) for name in ("accuracy", "mass", "margin")},
        "estimate": {"mean": 0.6, "sd": 0.02},
        "false": rates(0.021, 0.032),
    }


def whole(mean: float) -> dict[str, Any]:
    return {
        "role": "walker",
        "margin": 0.15,
        "documents": 100,
        "runs": 50,
        "graded": rate(0.98),
        "accuracy": {"mean": mean, "sd": 0.02},
        "simulated": {"graded": rate(0.97), "accuracy": {"mean": 0.6, "sd": 0.02}},
    }


def small_record() -> dict[str, Any]:
    """Return a record with two roles, two margins and two sizes, one curve of the second grade, and two nulls."""
    cells = [
        power(role, margin, documents, found, held)
        for role, held in (("walker", 0.94), (HOSTILE, 0.96))
        for margin, documents, found in ((0.1, 20, 0.411), (0.1, 80, 0.487), (0.2, 20, 0.733), (0.2, 80, 0.989))
    ]
    cells += [power("walker", 0.2, documents, found, 0.95, grade=2) for documents, found in ((20, 0.35), (80, 0.776))]
    needed = {"margin": 0.2, "power": 0.8, "items": 1234, "role": "walker", "at_most": False}
    null = {"documents": 25, "runs": 1000, "heads": 24, "labels": 12}
    run = {"corpus": "grammar", "seed": 3, "documents": 40, "labels": 9, "graded": 0, "declared": []}
    return {
        "headscope": "0.1.0",
        "started": "2026-11-21T09:02:30Z",
        "git_commit": "5d0c3e9a71b2f488",
        "wall_seconds": 150.4,
        "seed": 7,
        "scale": {"runs": 1000, "power_runs": 1000, "documents": [20, 80]},
        "effort": {"replicates": 1000, "seed": 0},
        "rule": {"alpha": 0.05, "margin": 0.1},
        "population": {"documents": 1000, "heads": 28, "planted": []},
        "power": cells,
        "false": [
            {"null": "random weights", **null, "rates": rates(0.002, 0.004), "coverage": {"margin": rate(0.951)}},
            {"null": "offset decoys", **null, "rates": rates(0.011, 0.013, 0.007), "coverage": {"margin": rate(0.962)}},
        ],
        "weights": [{"place": "previous", "planted": "1-2", "selected": "1-2", "accuracy": 1.0, "graded": True}],
        "whole": [whole(0.601)],
        "null_runs": [{"source": "random", **run}, {"source": "permuted", **run}],
        "needed": [needed, needed | {"margin": 0.1, "items": None}, needed | {"margin": 0.3, "at_most": True}],
    }

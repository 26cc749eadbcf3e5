from typing import Any

from tests.experiments.findings.planted import planted_run


def _heads(**by_length: tuple[float, ...]) -> dict[str, Any]:
    """Return a reading with six heads, three texts of each of four lengths, and these values of a column by length."""
    rows = []
    for number, sizes in enumerate((1, 2, 3, 4) * 3):
        for head in range(6):
            row = {"layer": 0, "head": head, "name": f"1-{head + 1}", "sizes": sizes, "text": number}
            row |= {"document": number // 2, "pearson": 0.5, "removed": 0.5}
            row |= {"cls": 0.3, "sep": 0.2, "cls_effective": 0.3, "sep_effective": 0.2}
            rows.append(row | {name: values[sizes - 1] * (1 + 0.01 * head) for name, values in by_length.items()})
    return {"mixing": planted_run(effective_texts=rows)}


def _identified(*by_depth: float) -> dict[str, Any]:
    rows = [
        {"measure": "identified pieces", "depth": depth, "value": value, "low": value - 0.02, "high": value + 0.02}
        for depth, value in enumerate(by_depth)
    ]
    return {"mixing": planted_run(mixing=[row | {"n": 90} for row in rows])}


LESS, MORE = (0.05,) * 4, (0.35,) * 4

PLANTED = {
    "brunner-null-space": (_heads(removed=(0.0, 0.2, 0.4, 0.6)), _heads(removed=(0.2, 0.0, 0.0, 0.0))),
    "brunner-length": (_heads(pearson=(1.0, 0.8, 0.6, 0.4)), _heads(pearson=(1.0, 0.4, 0.6, 0.8))),
    "brunner-special-tokens": (
        _heads(cls_effective=LESS, sep_effective=LESS),
        _heads(cls_effective=MORE, sep_effective=MORE),
    ),
    "brunner-identity": (_identified(1.0, 1.0, 0.9), _identified(1.0, 0.9, 0.3)),
    "brunner-identity-depth": (_identified(1.0, 1.0, 0.7), _identified(1.0, 0.8, 0.9)),
}

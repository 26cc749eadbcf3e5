"""What roles are called in the naming convention of attention heads, where it has a name for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pandas as pd

from reports.tables.scores import SCORES
from reports.tables.shared_columns import text

SOURCE: Final = (
    "Kowalczyk 2025, Attention Head Naming Convention, github.com/KarolFilipKowalczyk/attention-head-taxonomy"
)

CANONICAL: Final[Mapping[tuple[str, str], str]] = {
    ("position", "previous"): "Previous-Token Head",
    ("position", "[SEP]"): "Delimiter Head",
    ("repetition", "same word"): "Duplicate-Token Head",
    ("repetition", "word after"): "Induction Head",
    ("coreference", ""): "Coreference Head",
    ("antecedent", ""): "Pronoun Head",
}
"""Probe, and label or variant (any where it is empty) -> canonical name. Roles without an entry, such as dependency
relations, have no name there."""

EXPORTED_SCORES: Final = replace(
    SCORES,
    columns=(
        *SCORES.columns,
        text("canonical_name", f"Canonical name of the role by {SOURCE}, without its depth; empty where it has none."),
    ),
)
"The scores as they are shared: with canonical names."


def canonical(probe: str, label: str, variant: str) -> str:
    """Return the canonical name of a role; "" where the convention has none.

    >>> canonical("repetition", "content", "word after"), canonical("dependency", "nsubj", "dependent->head")
    ('Induction Head', '')
    """
    return next((CANONICAL[key] for key in ((probe, label), (probe, variant), (probe, "")) if key in CANONICAL), "")


def with_canonical_names(scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores as EXPORTED_SCORES declares them."""
    roles = zip(scores["probe"], scores["label"], scores["variant"], strict=True)
    return scores.assign(canonical_name=[canonical(*role) for role in roles])

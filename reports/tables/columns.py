"""The columns of the tables of a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SCORE_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        "maps": "str",
        "probe": "str",
        "label": "str",
        "variant": "str",
        "layer": "int64",
        "head": "int64",
        "name": "str",
        "split": "str",
        "n": "int64",
        "clusters": "int64",
        "accuracy": "float64",
        "ci_low": "float64",
        "ci_high": "float64",
        "mass": "float64",
        "mass_low": "float64",
        "mass_high": "float64",
        "coverage": "float64",
        "share": "float64",
        "baseline": "str",
        "baseline_accuracy": "float64",
        "margin": "float64",
        "margin_low": "float64",
        "margin_high": "float64",
        "lexical_accuracy": "float64",
        "lexical_margin_low": "float64",
        "lexical_margin_high": "float64",
        "near_ties": "int64",
        "p": "float64",
        "p_label": "float64",
        "p_adjusted": "float64",
        "stability": "float64",
        "selected": "bool",
        "specialised": "bool",
        "beyond_lexical": "bool",
    }
)
"""Column -> dtype of scores.parquet, in order. Layer and head count from 0, `name` from 1; fractions lie in [0, 1].

`maps` is what was read of the heads, a key of `reports.scores.glossary.MAPS`; of "norms" mass and coverage are
lengths."""

EXAMPLE_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "example": "int64",
        "probe": "str",
        "label": "str",
        "variant": "str",
        "layer": "int64",
        "head": "int64",
        "name": "str",
        "split": "str",
        "source": "str",
        "words": "object",
        "query": "int64",
        "key": "int64",
        "weight": "float64",
        "gold": "bool",
        "asked": "bool",
    }
)
"Column -> dtype of examples.parquet, one row an arc; query and key are word indices from 0, -1 is [CLS], -2 is [SEP]."

METRIC_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "probe": "str",
        "label": "str",
        "variant": "str",
        "layer": "int64",
        "head": "int64",
        "name": "str",
        "n": "int64",
        "accuracy": "float64",
        "mass": "float64",
        "reciprocal_rank": "float64",
        "auc": "float64",
    }
)
"Column -> dtype of metrics.parquet, one row a question and head of the report split; NaN where nothing was measured."

AGREEMENT_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "probe": "str",
        "label": "str",
        "variant": "str",
        "n": "int64",
        "one": "str",
        "other": "str",
        "tau": "float64",
        "same_best": "bool",
        "overlap": "float64",
    }
)
"Column -> dtype of agreement.parquet, one row a question and pair of metrics; tau lies in [-1, 1], overlap in [0, 1]."

BEHAVIOUR_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model": "str",
        "step": "Int64",
        "corpus": "str",
        "level": "str",
        "field": "str",
        "phenomenon": "str",
        "paradigm": "str",
        "condition": "str",
        "attractors": "Int64",
        "number": "str",
        "method": "str",
        "n": "int64",
        "clusters": "int64",
        "accuracy": "float64",
        "ci_low": "float64",
        "ci_high": "float64",
        "near_ties": "int64",
        "left_out": "int64",
    }
)
"""Column -> dtype of behaviour.parquet, one row a group of minimal pairs; `level` says what its pairs have in common.

Columns that differ within a group are "" or missing. Fractions lie in [0, 1], chance is 0.5; NaN where n = 0."""

BEHAVIOUR_LEVELS: Final = (
    *("corpus", "field", "phenomenon", "paradigm", "condition", "attractors", "number"),
    "condition and attractors",
)
"What pairs are grouped by; a row of the first is a whole corpus."

ROW_KEY: Final = ("model", "step", "corpus", "maps", "probe", "label", "variant", "layer", "head", "split")
"The columns that together name one row of scores.parquet."

SPLITS: Final = ("select", "report")
"Heads are chosen on `select`; their numbers are quoted on `report`."

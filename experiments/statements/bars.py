"""Bars that a claim and a finding of the same paper share."""

from __future__ import annotations

from typing import Final

from experiments.statements.rule import Rule

LEEWAY: Final = 0.02
"By how much a share may lie above another and still count as no larger."

SAME: Final = Rule(above=0.999, below=1.001)
"Products that are counted: a ratio of 1, but for rounding of a division."

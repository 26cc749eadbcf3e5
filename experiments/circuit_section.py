"""The table [circuits] of a config: what the weights alone are asked."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from experiments.section import Section


class CircuitsSection(Section):
    """What the weights alone say of heads, held against what they do on text; for models of the BERT family."""

    enabled: bool = False
    "Whether weights are asked at all."
    words: int = Field(default=500, ge=20)
    "Words of the vocabulary between which heads are asked, evenly spaced in its order."
    sentences: int = Field(default=500, ge=1)
    "Sentences of the report split that are read to compare."
    relations: Path | None = None
    """A file of word pairs in the place of those that headscope brings, relative to the config: lines of a relation, a
    source and a target, divided by tabs."""

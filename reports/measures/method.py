"""How something was measured, in sentences for the appendix of a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Method:
    """How something was measured, in sentences for an appendix."""

    tables: tuple[str, ...]
    "What was measured: a run that holds the first of these tables has measured it."
    title: str
    section: str
    "Table of the config that the sentences take keys from."
    sentences: str
    "With keys of the table in braces."

    def written(self, config: Mapping[str, Any]) -> tuple[str, str]:
        """Return the heading and the sentences, with the settings of a config."""
        settings = {key: written(value) for key, value in config.get(self.section, {}).items()}
        return self.title, self.sentences.format_map(settings)


def written(value: Any) -> str:
    """Write a value of a config in a sentence.

    >>> written(True), written(9999), written(["zero", "mean"]), written([]), written(0.1)
    ('yes', '9,999', 'zero, mean', 'those of the default', '0.1')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(written, value)) or "those of the default"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)

"""Names of baselines and controls, as pages and tables show them."""

from __future__ import annotations

from typing import Final

SHOWN: Final = {"shuffled weights": "permuted weights", "shuffled words": "shuffled word order"}
"Name of a control in the tables of a run -> its name for readers, where that differs."


def shown_baseline(name: str) -> str:
    """Return the name of a baseline or control for readers, its repetitions included.

    >>> shown_baseline("shuffled weights 2"), shown_baseline("offset")
    ('permuted weights 2', 'offset')
    """
    for stored, shown in SHOWN.items():
        if name == stored or name.startswith(f"{stored} "):
            return shown + name.removeprefix(stored)
    return name


def shown_stage(stage: str) -> str:
    """Return the name of a stage of a run for readers.

    >>> shown_stage("control: shuffled weights 2"), shown_stage("probes, sentences")
    ('control: permuted weights 2', 'probes, sentences')
    """
    kind, colon, name = stage.partition(": ")
    return kind + colon + shown_baseline(name)

"""What a head had to beat for its verdict: the baselines and controls of a run, and what the controls cost.

Its table is a summary, a baseline a row: no table of a run folder has such rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd
from markupsafe import Markup

from reports.formats import MISSING, count, duration
from reports.run.record import RunRecord
from reports.scores.best_heads import CLASSIFIER
from reports.tables.cells import Cell, TextColumn
from reports.tables.text_table import TextTable

STAGE: Final = "control: "
"What the names of the stages begin with in which a run scored a control."

CONTROLS: Final = {
    "random weights": ("random", "the same architecture with randomly initialised weights"),
    "permuted weights": ("permuted", "the model’s weights permuted within each matrix"),
    "shuffled word order": (
        "orders",
        "the same model reads each sentence with its words in shuffled order; the gold follows the words",
    ),
}
"Name -> key in the table [controls] of a config, which 0 switches off, and what it is."

BASELINES: Final = {
    "offset": "the most frequent distance of correct words",
    "likeliest distance": "the candidate at the distance at which candidates are correct most often",
    "previous word": "the word before",
    "nearest mention": "the nearest mention before",
    "same head word": "the nearest mention before with the same head word",
    "nearest candidate": "the nearest of the candidate noun phrases",
    "first candidate": "the first of the candidate noun phrases",
    "same word, nearest": "the nearest candidate of the same word form",
    "same word, same rank": "the n-th candidate of the same word form where the word is the n-th of it on its own side",
    "uniform": "uniform attention: chance",
}
"Name -> what it is, of baselines that cost next to nothing and are always there."

RULES: Final = {
    "nearest word of a tag set": "the nearest word with one of at most five parts of speech, these and the side "
    "selected on the selection split",
    "nearest noun or pronoun": "the nearest noun or pronoun before the word, else after it",
    "nearest noun that agrees": "the same, of those that agree in person and number, where one does",
    "first noun or pronoun": "the first noun or pronoun of the sentence",
    "next verb": "the nearest verb that shows number after the word, else before it",
    "next verb that agrees": "the same, of those that agree in person and number, where one does",
    "first verb": "the first verb of the sentence that shows number",
    "nearest mention that agrees": "the nearest mention that agrees in person, number and gender",
    "same head word or mention that agrees": "the nearest mention with the same head word, else the nearest that "
    "agrees; of pronouns the nearest that agrees",
    "nearest subject": "the nearest mention that is a subject",
    "nearest mention of the same role": "the nearest mention with the same grammatical role",
    "likely subject, most mentioned": "the mention that is likely a subject and is mentioned most often",
    "same neighbours": "the atom of the other side that has the same elements bound to it",
    "same neighbourhood": "the atom of the other side that has the same elements around it, up to four bonds away",
    "same neighbourhood, then bonds": "the same, and from atoms found so along bonds that both sides have",
}
"Name -> what it is, of rules of grammar, which know tags and trees."


@dataclass(frozen=True)
class ComparedBaseline:
    """A baseline or control that heads are compared with."""

    name: str
    what: str
    strongest: int
    "Label–variant pairs in which it is the strongest on the report split."
    is_control: bool
    seconds: float | None = None
    "Time that scoring it took; None where the run does not tell."
    switch: str = ""
    "What to add to the command line for a run without it."


def _switch(baseline: ComparedBaseline) -> Cell:
    if not baseline.switch:
        return Cell(MISSING)
    return Cell(baseline.switch, page=Markup("<code>{}</code>").format(baseline.switch))


BASELINE_COLUMNS: Final = (
    TextColumn("Name", lambda one: one.name, "row"),
    TextColumn("What it is", lambda one: f"{'control: ' * one.is_control}{one.what or MISSING}", "text", "wrapping"),
    TextColumn("Strongest of its kind (pairs)", lambda one: count(one.strongest)),
    TextColumn("Compute time", lambda one: duration(one.seconds)),
    TextColumn("Omit with", _switch, "text"),
)


def baseline_table(baselines: Sequence[ComparedBaseline]) -> TextTable:
    """Return the table of baselines and controls."""
    return TextTable.of("Baselines and controls", BASELINE_COLUMNS, baselines)


def run_baselines(scores: pd.DataFrame, record: RunRecord, config: Mapping[str, Any]) -> tuple[ComparedBaseline, ...]:
    """Return the controls of a run, then the baselines that are named in `scores`, each kind in its usual order.

    A control ran if the config asks for it, a stage of run.json is named after it, or a row of scores names it.
    """
    strongest = _strongest(scores)
    seconds = {stage.removeprefix(STAGE): took for stage, took in record.stages.items() if stage.startswith(STAGE)}
    asked = [name for name, (key, _) in CONTROLS.items() if config.get("controls", {}).get(key)]
    controls = {*asked, *seconds, *(name for name in strongest if name in CONTROLS)}
    order = [*CONTROLS, *BASELINES, *RULES, *sorted({*strongest, *seconds})]
    return tuple(
        _baseline(name, strongest.get(name, 0), seconds.get(name), is_control=name in controls)
        for name in sorted({*controls, *strongest}, key=lambda name: (name not in controls, order.index(name)))
    )


def _baseline(name: str, strongest: int, seconds: float | None, *, is_control: bool) -> ComparedBaseline:
    """Return one baseline or control; of one that this page does not know only the name is told."""
    key, what = CONTROLS.get(name, ("", BASELINES.get(name, "")))
    what = f"rule of grammar: {RULES[name]}" if name in RULES else what
    return ComparedBaseline(name, what, strongest, is_control, seconds, f"--set controls.{key}=0" if key else "")


def _strongest(scores: pd.DataFrame) -> dict[str, int]:
    """Return every baseline that a row names -> number of pairs in the report in which it is the strongest there."""
    rows = scores[scores["probe"] != CLASSIFIER]
    found = dict[str, int]()
    for kind in ("baseline", "rule"):
        named = rows.loc[rows[kind] != "", ["split", "probe", "label", "variant", kind]].drop_duplicates()
        counts = named.loc[named["split"] == "report", kind].value_counts()
        found |= {name: int(counts.get(name, 0)) for name in sorted(named[kind].unique())}
    return found

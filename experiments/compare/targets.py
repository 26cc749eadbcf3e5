"""What runs report of agreement, coreference and position, gathered for one page; and its summary on a terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from experiments.compare.answers import made_text, model_titles, selected_row, texts_text
from experiments.compare.sides import CompareError
from probes import get_probe
from probes.causal.ablation_table import damaging_heads
from probes.causal.attention_vs_effect import ROLES
from reports import Run
from reports.compare.target_sentences import spoken
from reports.compare.target_tables import ANSWERS, EFFECTS, POSITION, TARGETS, RoleTarget, TargetRecord, TargetRun
from reports.compare.targets import TARGET_PAGE, summary_table
from reports.formats import names_apart
from reports.progress import Progress, each, silent
from reports.scores.best_heads import BestHead, best_heads, page_scores
from reports.scores.thresholds import RunThresholds


@dataclass(frozen=True)
class NamedRun:
    """One run, as the page names it."""

    title: str
    model: str
    "Runs of the same weights have the same."
    run: Run
    scores: pd.DataFrame
    "The rows that one page can show."
    notes: tuple[str, ...]

    @property
    def asks(self) -> bool:
        """Whether it asked for any of the targets."""
        return bool({*self.scores["probe"]} & {probe for target in TARGETS for probe in target.probes})

    @property
    def measures(self) -> bool:
        """Whether it took heads away one by one."""
        return "ablations" in self.run.tables


BEHAVIOURS: Final = {
    target.name: tuple(dict.fromkeys(name for role in ROLES if role.probe in target.probes for name in role.behaviours))
    for target in TARGETS
}
"Target -> the behaviours that belong to it, by the roles of its probes."

OF_ANY_TEXT: Final = BEHAVIOURS[POSITION.name]
"Behaviours that any text shows: told where a model has none of the target's own."

NOT_TOGETHER: Final = {
    "together": "",
    **dict.fromkeys(("random_cost", "difference", "difference_low", "difference_high", "p_random"), math.nan),
}


def write_target_page(names: Sequence[str], out: Path, progress: Progress = silent) -> tuple[Path, TargetRecord]:
    """Gather what runs say of the three targets, and write the page and its tables into `out`.

    Raises CompareError where `out` holds a run, and for what `open_runs` refuses.
    """
    if (out / "scores.parquet").is_file():
        raise CompareError(f"{out} is a run folder; choose another --out")
    runs = open_runs(names, progress)
    asked = answers(runs)
    version = ", ".join(sorted({run.run.record.headscope or "" for run in runs} - {""}))
    headless = tuple(dict.fromkeys(run.model for run in runs if run.run.record.model.masked_lm is False))
    about, notes = tuple(map(_about, runs)), tuple(_notes(runs))
    record = TargetRecord(version, about, notes, BEHAVIOURS, headless, asked, effects(asked, runs))
    return TARGET_PAGE.write(out, record, progress), record


def open_runs(names: Sequence[str], progress: Progress = silent) -> list[NamedRun]:
    """Open run folders in the order in which they are given.

    Raises CompareError for what is given twice, or where none asked for any of the targets; RunFolderError and
    FileNotFoundError for what is no run folder.
    """
    folders = [Path(name) for name in names]
    if twice := [str(folder) for folder, times in Counter(map(Path.resolve, folders)).items() if times > 1]:
        raise CompareError(f"{twice[0]} is given twice")
    runs = [Run.open(folder, published=True) for folder in each("runs opened", folders, progress)]
    opened = []
    for title, model, run in zip(names_apart(names), model_titles(runs), runs, strict=True):
        scores, left_out = page_scores(run.scores)
        opened.append(NamedRun(title, model, run, scores, tuple(f"{title}: {note}" for note in left_out)))
    if not any(one.asks for one in opened):
        probes = ", ".join(probe for target in TARGETS for probe in target.probes)
        raise CompareError(f"no run scored a target: [probes] names of its config takes one of {probes}")
    return opened


def answers(runs: Sequence[NamedRun]) -> pd.DataFrame:
    """Return the rows of `ANSWERS`: by target, by run as given, then by probe, label and variant."""
    rows = [row for target in TARGETS for run in runs for row in _of_run(target, run)]
    return pd.DataFrame(rows, columns=[*ANSWERS.names])


def _of_run(target: RoleTarget, run: NamedRun) -> Iterator[dict[str, Any]]:
    """Yield the rows of a target: labels that lead in the first variant that was asked come first."""
    corpora = run.scores.loc[run.scores["split"] == "report", "corpus"]
    for probe in target.probes:
        variants = get_probe(probe).variants

        def place(row: BestHead, variants: Sequence[str] = variants) -> tuple[bool, int, int, str, int, str]:
            variant = (*variants, row.variant).index(row.variant)
            lead = (*target.leads, row.label).index(row.label)
            leads = row.label in target.leads
            return not leads, variant * leads, lead, row.label, variant, row.variant

        for row in sorted((row for row in best_heads(run.scores, probe) if row.n and row.name), key=place):
            about = {"target": target.name, "run": run.title, "model": run.model, "corpus": corpora.iloc[0]}
            yield selected_row(row, run.scores, ANSWERS.names, about)


def _about(run: NamedRun) -> TargetRun:
    record = run.run.record
    text = " / ".join(texts_text(record.corpus(split)) for split in ("select", "report"))
    parts = [name for name, there in (("targets", run.asks), ("effects", run.measures)) if there]
    return TargetRun(run.title, run.model, text, made_text(record), ", ".join(parts) or "nothing that the page shows")


def _notes(runs: Sequence[NamedRun]) -> Iterator[str]:
    """Yield what is left out of runs, and in what they differ."""
    for run in runs:
        yield from run.notes
    if len({RunThresholds.of(run.run.settings) for run in runs if run.asks}) > 1:
        yield "The runs grade heads by different rules ([verdict] of their configs)."


def effects(answers: pd.DataFrame, runs: Sequence[NamedRun]) -> pd.DataFrame:
    """Return the rows of `EFFECTS` for the selected heads: of each model the first run that measured a behaviour."""
    selected = answers.drop_duplicates(["target", "model", "name"])
    rows = [row for head in selected.to_dict("records") for row in _of_head(head, runs)]
    return pd.DataFrame(rows, columns=[*EFFECTS.names])


def _of_head(head: Mapping[Any, Any], runs: Sequence[NamedRun]) -> Iterator[dict[str, Any]]:
    own = BEHAVIOURS[head["target"]]
    target = next(target for target in TARGETS if target.name == head["target"])
    for behaviour in dict.fromkeys((*own, *OF_ANY_TEXT)):
        measured = (run for run in runs if run.model == head["model"] and _measured(run, behaviour))
        if (run := next(measured, None)) is None:
            continue
        costs = _costs(run, behaviour)
        about = {"target": head["target"], "model": head["model"], "run": run.title, "own": behaviour in own}
        damage = _damage(run, str(costs["way"].iloc[0])) if behaviour not in OF_ANY_TEXT else pd.Series(dtype=float)
        for _, rows in costs.groupby("measure", sort=False):
            if (rows["name"] == head["name"]).any():
                effect = _effect(str(head["name"]), rows, damage)
                together = _together(target, effect, run.run.last("ablation_contrasts"))
                yield {name: (NOT_TOGETHER | effect | together | about)[name] for name in EFFECTS.names}


def _measured(run: NamedRun, behaviour: str) -> bool:
    return run.measures and bool((run.run.tables["ablations"]["behaviour"] == behaviour).any())


def _costs(run: NamedRun, behaviour: str) -> pd.DataFrame:
    """Return what every single head costs of a behaviour, by the first way in which heads were taken away."""
    table = run.run.last("ablations")
    table = table[(table["behaviour"] == behaviour) & (table["kind"] == "head")]
    first: pd.DataFrame = table[table["way"] == table["way"].iloc[0]]
    return first


def _damage(run: NamedRun, way: str) -> pd.Series:
    """Return what every head costs of any text, by name; empty where the run has not measured that."""
    for behaviour in OF_ANY_TEXT:
        if _measured(run, behaviour):
            costs = _costs(run, behaviour)
            return costs[costs["way"] == way].set_index("name")["cost"]
    return pd.Series(dtype=float)


def _effect(name: str, rows: pd.DataFrame, damage: pd.Series) -> dict[str, Any]:
    """Return the row of one head, with its place among all heads of the same behaviour and measure."""
    (row,) = rows[rows["name"] == name].to_dict("records")
    beside = rows[(rows["layer"] == row["layer"]) & (rows["name"] != name)]
    place = {"median_cost": float(rows["cost"].median()), "layer_cost": float(beside["cost"].mean())}
    rank = int((rows["cost"] > row["cost"]).sum()) + 1
    beside_damage = damaging_heads(name, rows.set_index("name")["cost"], damage)
    return {str(key): value for key, value in row.items()} | place | {"rank": rank, "heads": len(rows)} | beside_damage


def _together(target: RoleTarget, effect: Mapping[str, Any], contrasts: pd.DataFrame) -> dict[str, Any]:
    """Return how the heads of the target, this one among them, cost beside random heads of the same layers."""
    for row in contrasts.to_dict("records"):
        alike = all(row[key] == effect[key] for key in ("behaviour", "way", "measure"))
        of_target = str(row["name"]).partition(":")[0] in target.probes
        if alike and of_target and effect["name"] in row["heads"].split():
            ends = {"difference_low": row["ci_low"], "difference_high": row["ci_high"], "p_random": row["p"]}
            return {"together": row["heads"], **{key: row[key] for key in ("random_cost", "difference")}, **ends}
    return {}


def print_targets(record: TargetRecord) -> None:
    """Print the summary of the page."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for target, sentences in spoken(record):
        console.print(Text(target.title, style="bold"))
        console.print(summary_table(record, target))
        for sentence in sentences:
            console.print(Text(sentence))
        console.print()

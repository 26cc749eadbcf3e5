"""Biographies: the training trajectories of heads, and what a page says of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, Charts, Fold, Heading, Paragraph, Points, Raw, TableBlock, Terms
from reports.formats import MISSING, count, percent, points, signed
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.thresholds import run_thresholds
from reports.tables.biographies import ALL_SEEDS, LIFE_SHOWN, MAIN, TABLES, TERMS
from reports.tables.cells import Cell, TextColumn
from reports.tables.shared_columns import label_columns
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext

QUESTION: Final = ["probe", "label", "variant"]

NAMED: Final = 12
"Heads that a page names of a class; Markdown names all."

FEWEST: Final = 50
"Items that a label of agreement needs in order to be told."

UNDISTURBED: Final = "attractors=0"
"The label whose verbs mostly stand beside their subjects; the table has it, the sentences have not."

PAIRS: Final = (
    "Only minimal pairs with attractors in the first corpus count (all its pairs, where it counts no attractors)."
)
"Which pairs the behaviour of a checkpoint is measured on."

STEP_BY_STEP: Final = (
    "Layers as rows, heads as columns. Move the slider, or the arrow keys on it, through the checkpoints; point at a "
    "cell or move through the cells with the arrow keys for the numbers of a head. The framed head is the best one at "
    "that step."
)

LIFE: Final[Mapping[str, str]] = {
    "commits": "holds a role at the end, and never held another",
    "changes": "holds a role at the end, and held another one before",
    "wavers": "has a role at the end, but not for long enough to hold it",
    "loses": "held a role, but has no role at the end",
    "never": "never held a role",
    "narrows": "was a generalist and became a specialist, in any of these trajectories",
}
"Trajectory in the tables of a run -> definition, in the order of a page."

MATCHED: Final[Mapping[str, str]] = {
    "steps": "neighbouring checkpoints of one seed",
    "seeds": "two seeds at their last checkpoints",
    "start": "two seeds at their first checkpoints",
}
"Kind of a pair -> what it is."

SCORED, CAME, LIVED, PAIRED = (
    TABLES[name] for name in (MAIN, "biography_onsets", "biography_lives", "biography_matches")
)


def _steps(low: float, high: float) -> str:
    """Return an interval in steps; an end that lies beyond the training is told in words."""
    ends = ("never" if math.isinf(end) else count(round(end)) for end in (low, high))
    return MISSING if math.isnan(low) else f"[{', '.join(ends)}]"


ONSETS: Final = (
    *label_columns("Role"),
    CAME["variant"].shown(css="muted"),
    CAME["onset"].shown("Onset, step", "rising", css="strong"),
    TextColumn("Interval", lambda row: _steps(row["low"], row["high"]), tip="95 % interval of the onset."),
    TextColumn(
        "Between checkpoints",
        lambda row: Cell(f"{count(round(row['after']))} – {count(round(row['by']))}", sort=float(row["by"])),
    ),
    TextColumn(
        "Earlier than the next row, %",
        lambda row: percent(row["before_next"]),
        tip="Share of resamples in which the onset is earlier than that of the next row, ties half.",
    ),
    TextColumn("Seeds with an onset", lambda row: f"{row['with_onset']} of {row['seeds']}"),
    CAME["onset_share"].shown("Resamples with an onset, %"),
    CAME["first_margin"].shown("Margin at the first checkpoint"),
    CAME["peak_margin"].shown("Largest margin"),
    CAME["peak_step"].shown("Step of the largest margin"),
    CAME["last_margin"].shown("Margin at the last checkpoint"),
    TextColumn("Best head at the largest margin", lambda row: row["heads"], "text", "head", tip="One for each seed."),
    CAME["n"].shown(),
)


def _baseline(row: Mapping[str, Any]) -> Cell:
    accuracy = float(row["baseline_accuracy"])
    return Cell(percent(accuracy), row["baseline"], sort=accuracy, quiet="muted")


_MARGIN: Final = TABLES["biography_curves"]["margin"]

FOLLOWERS: Final = (
    TextColumn("Direction", lambda row: row["variant"], "text"),
    *SCORED.text_columns("label", "seed"),
    TextColumn("At", lambda row: row["when"], "text"),
    SCORED["step"].shown(),
    TextColumn("Head", lambda row: row["name"], "text", "head"),
    SCORED["accuracy"].shown(),
    TextColumn("Strongest baseline, %", _baseline, tip=SCORED["baseline_accuracy"].meaning),
    _MARGIN.shown(unit=False, css="strong"),
    _MARGIN.shown_interval(),
    SCORED["excess"].shown("Over itself at the first checkpoint"),
    SCORED["n"].shown(),
)


def _named(row: Mapping[str, Any]) -> Cell:
    names = row["names"]
    more = f", +{len(names) - NAMED}" if len(names) > NAMED else ""
    return Cell((", ".join(names[:NAMED]) or MISSING) + more)


COURSES: Final = (
    TextColumn("Trajectory", lambda row: LIFE_SHOWN[row["life"]], "row"),
    TextColumn("Heads", lambda row: count(row["heads"]), css="strong"),
    TextColumn("The head ...", lambda row: LIFE[row["life"]], "text", "wrapping"),
    TextColumn("Heads (role)", _named, "text", "wrapping muted"),
)


def _since(row: Mapping[str, Any]) -> Cell:
    return Cell(count(int(row["since"])), sort=int(row["since"])) if row["last_role"] else Cell(MISSING, sort="")


LIVES: Final = LIVED.text_columns(
    "seed",
    LIVED["name"].shown("Head", css="head"),
    LIVED["life"].shown(
        "Trajectory",
        write=lambda row: f"{LIFE_SHOWN[row['life']]}{', narrows' * bool(row['narrows'])}",
        tip="What became of the head.",
    ),
    *("first_role", "last_role"),
    LIVED["since"].shown("Since step", write=_since),
    LIVED["widest"].shown("Effective roles, maximum"),
    LIVED["last_effective"].shown("Effective roles, last checkpoint"),
)

MATCHES: Final = (
    PAIRED["what"].shown("Matched", "row", write=lambda row: MATCHED[row["what"]]),
    TextColumn("Pairs of models", lambda row: count(row["pairs"])),
    PAIRED["distance"].shown("Distance, nats", css="strong"),
    PAIRED["null"].shown("on other sentences"),
    PAIRED["chance"].shown("of random pairs"),
    PAIRED["itself"].shown("Matched to itself, %"),
    PAIRED["same_role"].shown(),
    PAIRED["same_role_chance"].shown("by chance, %"),
)


class BiographiesMeasure(Measure):
    """What becomes of heads during training; its keys are those of [biographies], which alone switches it on."""

    name = "biographies"
    title = "Head biographies"
    place = -10
    tables = TABLES
    methods = (
        Method(
            "Heads were scored at every checkpoint of the training run (steps: {steps}; labels: {labels}) with "
            "{replicates} resamples of clusters and seeds; the maps of heads of all seeds were matched on "
            "{match_texts} sentences.",
            title="Biographies",
        ),
    )

    def wanted(self, run: RunContext) -> bool:
        """Return whether the heads of a training are followed."""
        return run.config.biographies is not None

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Read every checkpoint of the run's trainings."""
        from experiments.run.behaviours import grader
        from experiments.training.biographies import biographies

        read_all = run.read_checkpoints
        found = biographies(
            run.config,
            run.opened.trainings,
            run.corpora,
            behaviour=grader(run.config, run.model) if read_all is None else None,
            progress=run.progress,
            read_all=read_all,
            job=run.job,
        )
        for scope, dropped in found.dropped.items():
            run.journal.drop("biographies", scope, dropped)
        return found.tables

    @classmethod
    def results(cls, run: RunFolder) -> Iterator[str]:
        """Yield how many checkpoints were scored, and which roles came first and last."""
        yield from [*_sentences(run.tables)][:2]

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield when roles came, in which order, and what became of the heads."""
        from reports.drawing.trajectories import slider_view, trajectory_charts

        scores, lives = run.tables[MAIN], run.tables["biography_lives"]
        told = _told(run.tables)
        onsets, courses = _onsets(told, run.tables), _courses(lives, several=scores["seed"].nunique() > 1)
        yield Points([*_sentences(run.tables)])
        biography = "The biography of a head is its training trajectory: its roles at every checkpoint of a training"
        yield Paragraph(f"{biography} run.", note=True)
        yield Terms(TERMS.items())
        yield Heading("Loss, behaviour and roles on one axis")
        yield Charts([*trajectory_charts(run.tables, onsets)])
        dotted = "The dotted line is the step of the slider below; a click on a point of a curve moves it there."
        yield Paragraph(dotted, note=True)
        if len(onsets):
            yield _table("Onsets of roles, the earliest first", ONSETS, onsets, sorts=True)
        if len(found := followers(run.tables)):
            yield Heading("From the subject to the verb and back")
            yield Points([*agreement(found, run_thresholds(run).margin)])
            title = "The best head of each seed, at its best step and at the last one"
            yield _table(title, FOLLOWERS, found, sorts=True)
        yield Heading("Trajectories of the heads")
        yield TableBlock(TextTable.of("Heads by trajectory", COURSES, courses))
        with_role = lives[(lives["last_role"] != "") | (lives["first_role"] != "")]
        if len(with_role):
            ordered = with_role.sort_values(["seed", "layer", "head"], kind="stable")
            table = _table("Trajectories of heads", LIVES, ordered, sorts=True, caption=False)
            yield Fold(f"Every head that had a role: {len(with_role)}", [table])
        if (matches := run.tables.get("biography_matches")) is not None and len(matches):
            yield _table("Heads matched by the distance of their maps", MATCHES, _means(matches))
        yield Heading("All heads, step by step")
        slider, left_out = slider_view(scores, told)
        fewer = f" The {count(left_out)} label–direction pairs with the smallest margins are left out here; "
        yield Paragraph(STEP_BY_STEP + f"{fewer}biographies.parquet has them." * bool(left_out))
        yield Raw("biographies", slider)


def _table(
    title: str, columns: Sequence[TextColumn], rows: pd.DataFrame, sorts: bool = False, caption: bool = True
) -> TableBlock:
    return TableBlock(TextTable.of(title, columns, rows.to_dict("records")), caption, sorts)


def _onsets(told: pd.DataFrame, tables: Frames) -> pd.DataFrame:
    """Return when each role came, in the order in which they came, each by its best variant.

    `heads` are the best ones at the peak, one a seed; `before_next` is the share of resamples in which the role comes
    before that of the next row, NaN where they were not compared.
    """
    come = told[np.isfinite(told["onset"])].sort_values("peak_margin", ascending=False, kind="stable")
    best = come.drop_duplicates(["probe", "label"]).sort_values(["onset", "label"], kind="stable")
    order, every = tables["biography_order"].query("what == 'role'"), tables["biography_onsets"]
    shares = {(row["one"], row["other"]): float(row["share"]) for row in order.to_dict("records")}
    names = [f"{row['label']} ({row['variant']})" for row in best.to_dict("records")]
    pairs = [*zip(names, [*names[1:], ""], strict=False)]
    peaks = every[every["seed"] != ALL_SEEDS].sort_values("seed").groupby(QUESTION)["peak_head"].agg(", ".join)
    rows: pd.DataFrame = best.assign(
        heads=[peaks[tuple(row)] for row in best[QUESTION].itertuples(index=False)],
        before_next=[shares.get(pair, 1 - shares.get(pair[::-1], math.nan)) for pair in pairs],
    )
    return rows


def _told(tables: Frames) -> pd.DataFrame:
    """Return the onsets of roles over all seeds, or of the only one."""
    every, seeds = tables["biography_onsets"], tables[MAIN]["seed"].unique()
    return every[(every["seed"] == (ALL_SEEDS if len(seeds) > 1 else seeds[0])) & every["role"]]


def _sentences(tables: Frames) -> Iterator[str]:
    """Yield what was followed and what was found."""
    seeds, steps = (sorted(tables[MAIN][column].unique().tolist()) for column in ("seed", "step"))
    told = _told(tables)
    onsets, courses = _onsets(told, tables), _courses(tables["biography_lives"], several=len(seeds) > 1)
    who = f"{len(seeds)} seeds" if len(seeds) > 1 else f"seed {seeds[0]}"
    yield (
        f"All heads of {who} were scored at {count(len(steps))} checkpoints, from step {count(steps[0])} to step "
        f"{count(steps[-1])}."
    )
    tested = count(told.groupby(["probe", "label"]).ngroups)
    if len(onsets):
        first, last = (
            f"“{row['label']}” (step {count(round(row['onset']))}, interval {_steps(row['low'], row['high'])})"
            for row in onsets.iloc[[0, -1]].to_dict("records")
        )
        yield (
            f"{count(len(onsets))} of {tested} roles had an onset, the earliest is {first}, the latest {last}. The "
            f"interval excludes “never” in {count(int(np.isfinite(onsets['high']).sum()))} of {count(len(onsets))}."
        )
        if kinds := " ".join(_kinds(tables["biography_order"], steps)):
            yield kinds
        lives = ", ".join(f"{LIFE_SHOWN[one['life']]} ({one['heads']})" for one in courses[:-1])
        yield f"Trajectories of heads: {lives}."
    else:
        yield f"None of the {tested} roles that were tested had an onset."
    last_step = tables["biography_steps"].sort_values("step").groupby("seed")["behaviour"].last().dropna()
    if len(last_step):
        accuracies = ", ".join(f"{percent(value)} % (seed {seed})" for seed, value in last_step.items())
        yield f"Behaviour at the last checkpoint: {accuracies}. {PAIRS}"


def _kinds(order: pd.DataFrame, steps: Sequence[int]) -> Iterator[str]:
    """Yield which kind of roles has the earlier median onset, for every two kinds."""
    for row in order[order["what"] == "kind"].to_dict("records"):
        onsets = [float(row[f"{who}_onset"]) for who in ("one", "other")]
        one, other = (count(round(onset)) for onset in onsets)
        near, far = np.searchsorted(steps, onsets)
        yield (
            f"Of the roles with an onset, the median {row['one']} onset is step {one}, the median {row['other']} one "
            f"step {other}; the {row['one']} one is earlier in {percent(row['share'])} % of resamples (ties count "
            "half)."
        )
        if near == far and 0 < near < len(steps):
            between = f"{count(steps[near - 1])} and {count(steps[near])}"
            yield f"Both lie between the checkpoints {between}, so their order rests on interpolation."


def _courses(lives: pd.DataFrame, *, several: bool) -> list[dict[str, Any]]:
    """Return the heads of each trajectory with their last role; with several seeds the seed stands before the name."""
    who = [f"seed {row['seed']}: {row['name']}" if several else row["name"] for row in lives.to_dict("records")]
    roles = lives["last_role"].where(lives["last_role"] != "", lives["first_role"])
    names = pd.Series([f"{one} ({role})" if role else one for one, role in zip(who, roles, strict=True)], lives.index)
    of = {life: lives["narrows"] if life == "narrows" else lives["life"] == life for life in LIFE}
    return [
        {"life": life, "heads": int(those.sum()), "names": [] if life == "never" else names[those].tolist()}
        for life, those in of.items()
    ]


def _means(matches: pd.DataFrame) -> pd.DataFrame:
    """Return how near matched heads are, means over all pairs of one kind."""
    columns = ["distance", "null", "chance", "itself", "same_role", "same_role_chance"]
    of_kind = matches.groupby("what")
    means = of_kind[columns].mean().assign(pairs=of_kind.size())
    return means.reindex([what for what in MATCHED if what in means.index]).reset_index()


def followers(tables: Frames) -> pd.DataFrame:
    """Return the best head between subject and verb of every seed, direction and label at its best and last step."""
    curves, scores = (tables[name].query("probe == 'agreement'") for name in ("biography_curves", MAIN))
    both = curves.merge(scores.drop(columns=["margin", "head"]), on=[*QUESTION, "seed", "step", "name"])
    told = both[(both["label"].eq("all") | both["label"].str.startswith("attractors")) & both["n"].ge(FEWEST)]
    keys = ["label", "variant", "seed"]
    best = told.sort_values([*keys, "margin", "step"], ascending=[True, True, True, False, True]).drop_duplicates(keys)
    last = told.sort_values([*keys, "step"]).drop_duplicates(keys, keep="last")
    return pd.concat([best.assign(when="best"), last.assign(when="last")]).sort_values([*keys, "when"], kind="stable")


def agreement(selected: pd.DataFrame, needed: float) -> Iterator[str]:
    """Yield in how many seeds a head follows a direction by `needed`, over the verbs of each label."""
    for (direction, label), rows in selected.groupby(["variant", "label"], sort=False):
        if label == UNDISTURBED:
            continue
        best, last = (rows[rows["when"] == when] for when in ("best", "last"))
        top = best.iloc[int(best["margin"].argmax())]
        reached, stayed = (int((one["margin"] >= needed).sum()) for one in (best, last))
        yield (
            f"{direction}, {'all verbs' if label == 'all' else label}: the best head is {points(needed)} points above "
            f"the strongest baseline in {count(reached)} of {count(len(best))} "
            f"{'seed' if len(best) == 1 else 'seeds'} at its best step, in {count(stayed)} at the last; the highest "
            f"margin is {signed(top['margin'])} points (head {top['name']} of seed {top['seed']} at step "
            f"{count(top['step'])}, {percent(top['accuracy'])} % against {percent(top['baseline_accuracy'])} % of the "
            f"{top['baseline']})."
        )

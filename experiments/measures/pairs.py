"""Whether single heads predict which words are related better than the embedding does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from experiments.measures.classifiers import NAMES, ClassifiersMeasure, counted, in_full_or_folded, note_examples
from experiments.run.measure import Frames, Measure, Read, tables_of
from reports.blocks.block import Block, Paragraph, Terms
from reports.formats import MISSING
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.cells import TextColumn
from reports.tables.classifiers import PAIRS
from reports.tables.shared_columns import LEVEL
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.trained.tasks import ProbingTask

BASELINES: Final = (("embedding", "both embeddings"), ("random", "the same head with randomly initialised weights"))
"What each head is compared with, and what a sentence calls it."

TERMS: Final = {
    "related words": "Whether a noun is the subject of a verb (agreement), an earlier mention is of the same entity "
    "(antecedent), a word is the next one. For the first two there are as many incorrect pairs as correct ones at "
    "every signed distance, so that distance is uninformative; the next word is distance alone. The control task is as "
    "balanced as the task. Features of a head: its attention from the first word to the second and back, or its "
    "outputs before W_O of both words and their product. Its baselines: a classifier on both embeddings and their "
    "product, and one on the same head with randomly initialised weights; heads above a baseline have an adjusted p "
    "below 0.05 in the paired test. All heads: a classifier on these features of all heads at once.",
}


class PairsMeasure(Measure):
    """What classifiers of single heads tell of pairs of words, as [classifiers] says."""

    name = "pairs"
    title = "Heads on related words"
    place = 82
    tables = {"pairs": PAIRS}
    methods = (
        Method(
            "Classifiers of every head learned whether two words are related, from its attention between them and from "
            "its outputs, on {examples} examples a task and split at the most. Heads were selected on one split and "
            "tested on the other against the embedding, paired by documents, with Holm's correction for all heads.",
            title="Pairs of words",
            section="classifiers",
        ),
    )

    def wanted(self, run: RunContext) -> bool:
        """Return whether heads are to be tested on pairs of words."""
        return ClassifiersMeasure.of(run.config).pairs

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return a row a task, kind of features and head."""
        from experiments.run.context import SCOPES
        from probes.trained.tasks import PAIR_TASKS

        tasks = {scope: [task for task in PAIR_TASKS if task.scope == scope] for scope in SCOPES}
        frames = [_of_scope(run, scope, some) for scope, some in tasks.items() if some]
        return tables_of(pairs=[frame.rename(columns=NAMES) for frame in frames])

    @classmethod
    def results(cls, run: RunFolder) -> Iterator[str]:
        """Yield whether heads are above the embedding and random weights."""
        yield from _sentences(_selected(run.tables["pairs"]))

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield whether heads are above the embedding and random weights, and the selected heads."""
        yield Paragraph(" ".join(cls.results(run)))
        yield Terms(TERMS.items())
        title = "Related words: the selected head against the embedding"
        yield from in_full_or_folded(TextTable.of(title, PAIRED, _selected(run.tables["pairs"])))


def _of_scope(run: RunContext, scope: str, tasks: Sequence[ProbingTask]) -> pd.DataFrame:
    from probes.trained.pair_leads import FEATURES, PairProbing, pair_table
    from probes.trained.probing import Probing

    settings, seed = ClassifiersMeasure.of(run.config), run.config.seed
    with run.journal.stage("classifiers: read pairs"):
        words = Probing.of(run.model, run.texts(scope), tasks, run.settings, most=settings.examples, seed=seed)
        probing = PairProbing.of(words, run.model)
    note_examples(run, words, tasks, scope)
    kinds = run.model.layers * run.model.heads + 2  # all heads together, and the embedding
    fits = len(FEATURES) * len(words.posed) * kinds
    with run.journal.stage("classifiers: pairs"):
        scores = probing.judge(settings.processes, run.counter(f"classifiers of pairs ({scope}s)", fits))
    random = None
    if settings.random:
        with run.journal.stage("classifiers: pairs, random weights"):
            other = run.random_model()
            step = run.counter(f"classifiers of random pairs ({scope}s)", fits)
            random = PairProbing.of(words.reread(other), other).judge(settings.processes, step, coded=False)
    return pair_table(probing, scores, random, model=run.model, replicates=run.config.scoring.replicates, seed=seed)


def _selected(table: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the selected head of every task and kind of features, with `heads` and how many lead each baseline.

    `embedding_above` and `random_above` count heads with an adjusted p below LEVEL.
    """
    selected = []
    for _, heads in table.groupby(["task", "features"], sort=False):
        above = {f"{baseline}_above": int((heads[f"{baseline}_p"] < LEVEL).sum()) for baseline, _ in BASELINES}
        rows = heads[heads["selected"]].to_dict("records")
        selected += [{**row, "heads": len(heads), **above} for row in rows]
    return selected


def _sentences(selected: Sequence[Mapping[Any, Any]]) -> Iterator[str]:
    """Say of each baseline over which tasks selected heads lead it significantly, and for which tasks no head does."""
    for baseline, over in BASELINES:
        if rows := [row for row in selected if _met(row, baseline)]:
            led = [f"{row['task']} from {row['features']}" for row in rows if row[f"{baseline}_p"] < LEVEL]
            yield (
                f"In {len(led)} of {len(rows)} cases the selected head classifies significantly more pairs of words "
                f"correctly than {over}{': ' if led else ''}{', '.join(led)}."
            )
            above = {row["task"]: 0 for row in rows}
            for row in rows:
                above[row["task"]] += row[f"{baseline}_above"]
            if none := [task for task, heads in above.items() if not heads]:
                yield f"No head does for {' and '.join(none)}."


def _met(row: Mapping[Any, Any], baseline: str) -> bool:
    return not math.isnan(row[f"{baseline}_p"])


def _heads_above(baseline: str, title: str) -> TextColumn:
    tip = f"Heads with an adjusted p below {LEVEL}, of all heads."
    above = f"{baseline}_above"
    return TextColumn(title, lambda row: f"{row[above]} of {row['heads']}" if _met(row, baseline) else MISSING, tip=tip)


PAIRED: Final = (
    PAIRS["task"].shown(kind="row"),
    PAIRS["features"].shown(),
    PAIRS["name"].shown("Head"),
    counted(PAIRS["n"]),
    PAIRS["accuracy"].shown_beside(),
    PAIRS["control_accuracy"].shown("Control"),
    PAIRS["selectivity"].shown_beside(),
    PAIRS["embedding_accuracy"].shown("Embedding"),
    PAIRS["embedding_lead"].shown_beside("Lead over it"),
    PAIRS["embedding_p"].shown("p"),
    _heads_above("embedding", "Heads above it"),
    PAIRS["random_accuracy"].shown("Random weights"),
    PAIRS["random_lead"].shown_beside("Lead over them"),
    PAIRS["random_p"].shown("p, random weights"),
    _heads_above("random", "Heads above them"),
    PAIRS["together_accuracy"].shown("All heads"),
)

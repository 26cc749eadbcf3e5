"""What the roles of a run's heads explain: the share of their attention between words that lies on pairs of roles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from experiments.run.measure import Frames, Measure, Read
from probes.registry import RANDOM
from probes.words.position import AREAS
from reports.blocks.block import HeadMap
from reports.formats import percent, plain
from reports.heads.card_parts import CardPart, CardSource
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.column import Column
from reports.tables.grades import is_of_language, own_labels
from reports.tables.shared_columns import ONE_HEAD, SPLITS, fraction, run_table, text, whole

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from experiments.run.scope import Scored
    from mha import Model
    from probes.records import IntArray
    from probes.scoring.tally import Question

HEADS: Final = run_table(
    "One row for each scope and head: how much of its attention between different words, over all words of the report "
    "split, its roles explain.",
    ("scope", "layer", "head"),
    (
        text("scope", "Texts that are read, sentences or windows of several: the roles are those of this scope."),
        *ONE_HEAD,
        whole(
            "roles",
            "Labels and directions in which the head has a grade; labels that pool others (all, nsubj:*) or slice "
            "them, and areas of position, do not count.",
        ),
        Column("grade", "int64", "Highest grade in a linguistic role, 0 without one.", plain, (0, 3)),
        fraction(
            "between",
            "Attention between different words as a share of all attention of words: the rest goes to special tokens "
            "and to the word itself.",
        ),
        fraction(
            "explained",
            "Share of the attention between different words that lies on pairs of words of any of the head's roles, "
            "those of position included, areas aside; 0 without a role. A pair that stands in several roles counts "
            "once.",
        ),
        fraction(
            "explained_random",
            "The share that the same roles explain of the head in the same place of the first control with randomly "
            "initialised weights; missing without one.",
        ),
    ),
)


class ExplainedMeasure(Measure):
    """How much of each head's attention its roles explain, beside the same of randomly initialised weights."""

    name = "explained"
    place = 190
    tables = {"heads": HEADS}
    methods = (
        Method(
            "These are measured over all words of the report split, whatever was scored. Precision: of the words "
            "whose strongest other word gets at least a tenth of their attention (the limit of broad attention, Clark "
            "et al. 2019, section 3.2), the share that attend to a word of the relation. Lift: a head's attention on "
            "the pairs of words of the relation, divided by what its mean attention at their offsets comes to. Words "
            "of short texts get more each, so these means are of attention in units of 1 / (n − 1), uniform attention "
            "to the other words of a text of n, which has lift 1. Explained: the share of a head's attention between "
            "different words that lies on pairs of any of its roles, each pair once.",
            title="Precision, lift and explained attention",
            section="scoring",
        ),
    )

    def wanted(self, run: RunContext) -> bool:
        """Return whether attention itself is read."""
        return run.config.scoring.maps == "weights"

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return one row a scope and head: its roles are the questions of that scope in which it has a grade."""
        scores = run.verdicts([part.scores for part in read.parts])
        graded = scores[(scores["split"] == SPLITS[1]) & (scores["grade"] > 0)]
        alone = own_labels(zip(scores["probe"], scores["label"], strict=True))
        rows = [_of_part(run.model, part, graded, alone) for part in read.parts]
        return {"heads": pd.concat(rows, ignore_index=True)}

    @classmethod
    def maps(cls, run: RunFolder) -> Iterator[HeadMap]:
        """Yield how much of the attention between words roles explain, of sentences where those were read."""
        rows, title, shape = run.last("heads"), "attention explained by its roles", (run.layers, run.heads)
        rows = rows[rows["scope"] == rows["scope"].iloc[0]]
        yield HeadMap.of(title, rows, "explained", shape, unit="%", factor=100, group="attention")

    @classmethod
    def card(cls, source: CardSource, head: str) -> CardPart | None:
        """Return how much of a head's attention between words its roles explain, scope by scope."""
        rows = source.of_head("heads", head)
        sentences = tuple(_sentence(row, f"In {row['scope']}s: " if len(rows) > 1 else "") for row in rows)
        return CardPart("Attention explained by its roles", sentences) if sentences else None


def _of_part(model: Model, scored: Scored, graded: pd.DataFrame, alone: Collection[tuple[str, str]]) -> pd.DataFrame:
    from probes.evidence.results import named_heads
    from probes.maps.relation_attention import RelationAttention

    part = scored.part
    rows = graded[graded["probe"].isin([probe.name for probe in part.probes]) & (graded["variant"] != AREAS)]
    single = pd.MultiIndex.from_frame(rows[["probe", "label"]]).isin(list(alone))
    head = (rows["layer"] * model.heads + rows["head"]).to_numpy(np.int64)
    roles: list[list[Question]] = [[] for _ in range(model.layers * model.heads)]
    for place, question in zip(head, zip(rows["probe"], rows["variant"], rows["label"], strict=True), strict=True):
        roles[place].append(question)
    (own,) = scored.observed(RelationAttention, SPLITS[1])
    random = scored.observed(RelationAttention, RANDOM)
    columns = {
        "scope": part.scope,
        "roles": np.bincount(head[single], minlength=len(roles)),
        "grade": _highest(rows, head, len(roles)),
        "between": own.between_share,
        "explained": own.explained(roles),
        "explained_random": random[0].explained(roles) if random else np.nan,
    }
    return pd.DataFrame(named_heads((model.layers, model.heads)) | columns)


def _highest(rows: pd.DataFrame, head: IntArray, heads: int) -> IntArray:
    """Return the highest grade [head] in a linguistic role, 0 without one."""
    highest = np.zeros(heads, np.int64)
    language = is_of_language(rows).to_numpy()
    np.maximum.at(highest, head[language], rows["grade"].to_numpy()[language])
    return highest


def _sentence(row: Mapping[Any, Any], begin: str) -> str:
    share, random = float(row["explained"]), float(row["explained_random"])
    beside = f" ({percent(random)} % with randomly initialised weights)" if random == random else ""
    explain = f"; its roles explain {percent(share)} % of it{beside}" if share or row["roles"] else ""
    return f"{begin}Attention between words is {percent(row['between'])} % of all its attention{explain}."

"""How well parsers that see the attention of all heads at once find the heads of words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from experiments.measures.classifiers import ClassifiersMeasure, counted
from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, Paragraph, TableBlock, Terms
from reports.formats import percent, signed, signed_interval
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.classifiers import PARSER
from reports.tables.shared_columns import SPLITS
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext

TERMS: Final = {
    "UAS": "Unlabelled attachment score: share of words, punctuation aside, for which a parser picks the correct head "
    "among all other words and the root. The parser weighs the attention of all heads, there and back (Clark et al. "
    "2019, section 4.2); “+ words” lets the weights depend on the two words’ embeddings. The best head is taken for "
    "each word by itself. The control task of a parser gives every word form one distance to its head, drawn from "
    "those that occur, or the root.",
}


class ParsersMeasure(Measure):
    """How well parsers find heads of words from the attention of all heads, as [classifiers] says."""

    name = "parsers"
    title = "Parsers on all heads at once"
    place = 84
    tables = {"parser": PARSER}
    methods = (
        Method(
            "Parsers were trained on the attention of all heads at once, on {sentences} sentences a split at the most.",
            title="Parsers",
            section="classifiers",
        ),
    )

    def wanted(self, run: RunContext) -> bool:
        """Return whether parsers are to be trained."""
        return ClassifiersMeasure.of(run.config).parser

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the table of parsers; none where a split has no sentence with a tree."""
        from probes.trained.parser_scores import ATTENTION, DISTANCES, parser_table

        settings = ClassifiersMeasure.of(run.config)
        step = run.counter(self.name, len(ATTENTION) * (1 + settings.random) + len(DISTANCES))
        found, aligned = parser_table(
            run.model,
            run.random_model() if settings.random else None,
            run.texts("sentence"),
            run.settings,
            sentences=settings.sentences,
            replicates=run.config.scoring.replicates,
            seed=run.config.seed,
            step=lambda _: step(),
        )
        for split, one in zip(SPLITS, aligned, strict=True):
            run.note_dropped(split, "sentence", self.name, one.dropped)
        if found.empty:
            run.note("parsers: a split has no sentence with a tree")
            return {}
        return {"parser": found}

    @classmethod
    def results(cls, run: RunFolder) -> Iterator[str]:
        """Yield what parsers reach above the next word."""
        yield from _sentences(run.tables["parser"].to_dict("records"))

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield what parsers reach above the next word, and all of them."""
        yield Paragraph(" ".join(cls.results(run)))
        yield Terms(TERMS.items())
        yield TableBlock(TextTable.of("Parsers on all heads at once", PARSERS, run.tables["parser"].to_dict("records")))


def _sentences(rows: Sequence[Mapping[Any, Any]]) -> Iterator[str]:
    """Say of each parser whether it is significantly above the next word, and what it is with random weights."""
    by_name = {(row["parser"], row["weights"]): row for row in rows}
    for parser, sees in (("attention", "is given attention alone"), ("attention + words", "is given words as well")):
        row, random = by_name.get((parser, "trained")), by_name.get((parser, "random"))
        if row is not None:
            above = "significantly above" if row["margin_low"] > 0 else "not significantly above"
            between = signed_interval(row["margin_low"], row["margin_high"])
            lead = f"{signed(row['margin'])} points {between}".rstrip()
            beside = "" if random is None else f"; with random weights it has {percent(random['uas'])} %"
            yield (
                f"The parser that {sees} has a UAS of {percent(row['uas'])} %, {above} that of the next word by "
                f"{lead}{beside}."
            )


PARSERS: Final = (
    PARSER["parser"].shown(kind="row"),
    PARSER["weights"].shown("Weights of the model"),
    PARSER["parameters"].shown("Learned numbers"),
    counted(PARSER["n"]),
    PARSER["uas"].shown_beside("UAS"),
    PARSER["margin"].shown_beside("Margin over the next word"),
    PARSER["control_uas"].shown("Control"),
    PARSER["selectivity"].shown_beside(),
)

"""Chains: coreference chains that single heads link, beside those of rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from experiments.run.measure import Frames, Measure, Read
from probes.chains.scores import SCORES
from probes.corpora.corpus import MemoryTexts
from reports.blocks.block import Block, Paragraph, TableBlock, Terms
from reports.formats import MISSING, count, listed, percent, signed, signed_interval
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.cells import Cell, TextColumn
from reports.tables.shared_columns import (
    CLUSTERS,
    NAME,
    SPLIT,
    SPLITS,
    difference,
    ends,
    flag,
    fraction,
    number,
    optional,
    run_table,
    text,
    whole,
)
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from mha import Model
    from probes.chains.links import Links
    from probes.corpora.corpus import Texts

SINGLE: Final = "single mentions"
"The baseline whose chains are the mentions by themselves."

CHAINS: Final = run_table(
    "One row for each split, head or baseline, and score of coreference: how well the chains that its links join "
    "meet the gold chains. Mentions are given, one a head word, and chains are cut to windows.",
    ("split", "name", "measure"),
    (
        SPLIT,
        text("method", "head, or baseline: a rule, no choice at all, or random weights.", ("head", "baseline")),
        replace(NAME, meaning="Head as layer-head, both counted from 1, or name of the baseline."),
        optional("layer", "Layer, counted from 0; missing for a baseline."),
        optional("head", "Head in its layer, counted from 0; missing for a baseline."),
        flag("selected", "Whether it is the head with the highest CoNLL average on the selection split."),
        text(
            "measure",
            "MUC (Vilain et al. 1995), B3 (Bagga and Baldwin 1998), CEAF-m or CEAF-e (Luo 2005), or CoNLL, the mean of "
            "the F1 of MUC, B3 and CEAF-e (Pradhan et al. 2012).",
            SCORES,
        ),
        whole("n", "Number of mentions, one a head word."),
        whole("chains", "Number of gold chains, those of a single mention included."),
        CLUSTERS,
        number(
            "least",
            "How strong a link must be, as learned on the selection split: of a head its attention to the antecedent; "
            "of a rule 1 divided by the distance in words, less 1 for each group of mentions that it prefers.",
        ),
        fraction("precision", "Precision; missing for CoNLL."),
        fraction("recall", "Recall; missing for CoNLL."),
        fraction("f1", "F1, of CoNLL the mean of three; 0 where there are no links.", ""),
        *ends("", "F1", percent),
        text("baseline", "Strongest baseline by this score on this split; empty for baselines."),
        difference("lead", "F1 of the head minus that of the strongest baseline; missing for baselines.", "lead"),
        *ends("lead", "the lead", signed),
    ),
)

TERMS: Final = {
    "link": "From a mention to the preceding one to whose head word the head attends most; ties are broken at random. "
    "A link that is weaker than a limit is not made; the limit was learned on the selection split. Rules prefer near "
    "mentions, and learn in the same way how far they reach.",
    "mention": "As annotated: none is predicted, and one that stands alone is a chain of its own. Of several with one "
    "head word the longest counts. Chains are cut to windows, gold and predicted ones alike.",
    "MUC": "F1 of the links that join a chain (Vilain et al. 1995). Mentions that stand alone do not count.",
    "B3": "F1 of the mentions that a mention correctly shares its chain with, itself included, as a mean over mentions "
    "(Bagga and Baldwin 1998).",
    "CEAF": "F1 after each chain is paired with one gold chain at the most, as well as can be: CEAF-m counts shared "
    "mentions, CEAF-e how alike paired chains are, each chain alike (Luo 2005).",
    "CoNLL": "Mean of the F1 of MUC, B3 and CEAF-e (Pradhan et al. 2012).",
    "lead": "CoNLL average of the head minus that of the strongest baseline, over the same resampled documents.",
}


class ChainsMeasure(Measure):
    """Coreference chains that single heads link, by MUC, B-cubed and CEAF beside rules, see `probes.chains`."""

    name = "chains"
    title = "Coreference chains"
    place = 40
    switch = "enabled"
    tables = {"chains": CHAINS}
    methods = (
        Method(
            "In at most {texts} windows of each split every mention was linked to the preceding mention to whose head "
            "word a head attends most, and links were joined into chains. Mentions were given. A link needs an "
            "attention that was learned on the selection split, where the head was selected too, by the CoNLL average; "
            "rules learned how far they reach there. Chains were cut to windows, gold and predicted ones alike, and "
            "scored by MUC (Vilain et al. 1995), B-cubed (Bagga and Baldwin 1998) and CEAF (Luo 2005). Intervals are "
            "those of a bootstrap over documents."
        ),
    )

    enabled: bool = False
    "Whether mentions are linked at all; for corpora with coreference."
    texts: int = Field(default=1000, ge=1)
    "Windows of each split that are read, at the most: those with the smallest hash of their ids."
    random: bool = True
    "Whether the heads of randomly initialised weights link too; the best of them is a baseline."

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the scores of all heads and baselines; a note, and no table, where a split has no mentions."""
        from probes.chains.table import MethodSums, chain_table
        from probes.scoring.aligned import sample_texts

        samples = [MemoryTexts(sample_texts(texts, self.texts)) for texts in run.texts("window")]
        own = _links(run, run.model, samples, baselines=True)
        if empty := [split for split, links in zip(SPLITS, own, strict=True) if not links]:
            run.note(f"coreference chains: no mention in the windows of the {' and the '.join(empty)} split")
            return {}
        random = MethodSums.of(*_links(run, run.random_model(), samples, baselines=False)) if self.random else None
        shape = (run.model.layers, run.model.heads)
        return {"chains": chain_table(MethodSums.of(*own), random, shape, run.effort)}

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield how the selected head does beside its strongest baseline, and all scores, on the report split."""
        table = run.last("chains")
        table = table[(table["split"] == SPLITS[1]) & (table["selected"] | (table["method"] == "baseline"))]
        of_name = [rows.set_index("measure").to_dict("index") for _, rows in table.groupby("name", sort=False)]
        every = sorted(of_name, key=lambda row: (row["CoNLL"]["method"] != "head", -row["CoNLL"]["f1"]))
        rows = [row for row in every if not _is_idle(row, every)]
        if len(rows) > 1:
            yield Paragraph(" ".join(_sentences(rows, every)))
            yield TableBlock(_f1(rows))
            yield TableBlock(_precision_and_recall(rows))
            yield Terms(TERMS.items())


def _links(
    run: RunContext, model: Model, samples: Sequence[Texts], *, baselines: bool
) -> tuple[list[Links], list[Links]]:
    """Return the links of the texts of both splits; those that the model cannot read are left out, and counted."""
    from probes.chains.links import Linker
    from probes.scoring.score import score_corpus

    found = []
    for split, texts in zip(SPLITS, samples, strict=True):
        linker, step = Linker(model.layers, model.heads, baselines=baselines), run.counter("links", len(texts))
        outcome = score_corpus(model, texts, [], {}, run.settings, step, observers=[linker])
        run.note_dropped(split, "window", "coreference chains", outcome.dropped)
        found.append(linker.texts)
    select, report = found
    return select, report


Row = Mapping[Any, Mapping[Any, Any]]
"A head or a baseline: score -> columns of the table."


def _is_idle(row: Row, rows: Sequence[Row]) -> bool:
    """Say whether a rule made no link: it scores as chains of single mentions do."""
    single = next((one for one in rows if _name(one) == SINGLE), row)
    alike = all(row[score][value] == single[score][value] for score in SCORES[:-1] for value in ("precision", "recall"))
    return row is not single and alike


def _sentences(rows: Sequence[Row], every: Sequence[Row]) -> Iterator[str]:
    """Yield what came out for the selected head and its strongest baseline, and which rules are not shown."""
    head, baseline = rows[0]["CoNLL"], rows[1]["CoNLL"]
    low, high = head["lead_low"], head["lead_high"]
    lead = " ".join(filter(None, (signed(head["lead"]), signed_interval(low, high))))
    significance = "significant" if low > 0 else "significantly below 0" if high < 0 else "not significant"
    yield (
        f"{count(head['n'])} mentions in {count(head['chains'])} gold chains of {count(head['clusters'])} documents. "
        f"Head {rows[0]['CoNLL']['name']}, the best on the selection split, reaches a CoNLL average of "
        f"{percent(head['f1'])}, the strongest baseline, “{baseline['name']}”, {percent(baseline['f1'])}. "
        f"The lead of {lead} points is {significance}."
    )
    if idle := [_name(row) for row in every if row not in rows]:
        yield f"Rules that made no link are not shown: {listed(f'“{name}”' for name in idle)}."


def _f1(rows: Sequence[Row]) -> TextTable:
    conll = CHAINS["f1"].shown_with_interval("CoNLL", within="CoNLL", plain="CoNLL")
    lead = CHAINS["lead"].shown_with_interval("Lead", within="CoNLL")
    scores = [CHAINS["f1"].shown(score, within=score, tip=_meaning(score), plain=score) for score in SCORES[:-1]]
    return TextTable.of("F1 in %, and the lead in points", (LINKED_BY, *scores, *conll, *lead), rows)


def _precision_and_recall(rows: Sequence[Row]) -> TextTable:
    both = (TextColumn(score, partial(_both, score), tip=_meaning(score), plain=score) for score in SCORES[:-1])
    return TextTable.of("Precision / recall in %", (LINKED_BY, *both), rows)


def _both(score: str, row: Row) -> Cell:
    precision, recall = row[score]["precision"], row[score]["recall"]
    return Cell(f"{percent(precision)} / {percent(recall)}", sort=float(precision))


def _name(row: Row) -> str:
    one = row["CoNLL"]
    return f"head {one['name']}" if one["method"] == "head" else str(one["name"] or MISSING)


LINKED_BY: Final = TextColumn("Linked by", _name, "row")


def _meaning(score: str) -> str:
    return TERMS[score.partition("-")[0]]

"""The short page of a run, which is its Markdown: which heads do what, and what that rests on, on one screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Final

from reports.blocks.block import Block, Charts, Code, Paragraph, Section, TableBlock, Terms
from reports.formats import count, names, percent
from reports.measures.registry import measures
from reports.page.methods import SOURCES
from reports.page.summary import UNMEASURED, compared, effects, evaluation, headline
from reports.run.folder import RunFolder
from reports.run.record import RunRecord
from reports.scores.best_heads import Best, BestHead, best_heads, best_rows, leaders, page_scores, probes
from reports.scores.controls import ComparedBaseline
from reports.scores.shortest_table import answers
from reports.scores.verdicts import Verdicts

if TYPE_CHECKING:
    from reports.drawing.charts import Chart

ROWS: Final = 10
"Rows of its table."

EFFECT_WORDS: Final = 70
"Words that its sentences about causal effects have at the most, after the first."

NAMED: Final = 5
"Baselines, and sections that are not shown, that it names."


def short_blocks(
    run: RunFolder,
    best: Best,
    verdicts: Verdicts,
    baselines: Sequence[ComparedBaseline],
    sections: Sequence[Section],
) -> Iterator[Block]:
    """Yield the blocks of the short page of a run whose page has `sections`."""
    rows = best_rows(best)
    yield Paragraph(headline(rows, verdicts, run.layers * run.heads))
    yield TableBlock(replace(answers("Which heads do what", rows, verdicts.rule, ROWS), note=""), caption=False)
    yield from _effect_charts(run, verdicts, sections)
    pairs = {
        "Uncertainty": " ".join((evaluation(run.record, verdicts.rule), _stability(rows))),
        "Compared with": f"{_baselines(baselines)} {compared(baselines)}",
        "Causal effects": _fitting(effects(run, verdicts, [row.name for row in leaders(rows, ROWS)])),
        "Model and text": _read(run.record),
    }
    yield Terms([(term, said.strip()) for term, said in pairs.items()], folded=False)
    measured = [section.title for section in sections if section.name not in ("opening", "best")]
    yield Paragraph(
        f"Not shown: all {count(len(rows))} labels and directions, and sections such as {names(measured, NAMED)}. This "
        "command makes the whole page, index.html; scores.parquet has every head:"
    )
    yield Code(" ".join((run.record.command or "headscope run config.toml").splitlines()))


def answers_figure(run: RunFolder) -> Chart:
    """Return the rows of its table as a figure, which only a published page has."""
    from reports.drawing.charts import Chart
    from reports.notebook.run_charts import MARKS, beside_baselines

    scores, _ = page_scores(run.scores)
    every = best_rows({name: best_heads(scores, name) for name in probes(scores)})
    return Chart("Heads beside baselines", MARKS, beside_baselines(leaders(every, ROWS)))


def _effect_charts(run: RunFolder, verdicts: Verdicts, sections: Sequence[Section]) -> Iterator[Charts]:
    """Yield the first chart of the measures that say something of causal effects."""
    told = {measure.anchor or measure.name for measure in measures() if any(measure.effects(run, verdicts))}
    blocks = (block for section in sections if section.name in told for block in section.blocks)
    first = next((block for block in blocks if isinstance(block, Charts)), None)
    if first is not None:
        yield Charts(first.charts[:1])


def _stability(rows: Sequence[BestHead]) -> str:
    """Return how often the same head is selected in resamples of the selection split; "" where that is unknown."""
    known = [row.stability for row in rows if row.stability == row.stability]
    return f"In {percent(median(known))} % of resamples (median) the same head is selected." if known else ""


def _baselines(baselines: Sequence[ComparedBaseline]) -> str:
    named = [one.name for one in baselines if not one.is_control]
    return f"Baselines: {names(named, NAMED)}." if named else ""


def _fitting(said: Sequence[str]) -> str:
    """Return the first sentence, and those that follow while there is room."""
    if tuple(said) == (UNMEASURED,):
        return "not measured."
    kept = [said[0]]
    for sentence in said[1:]:
        if len(" ".join((*kept, sentence)).split()) > EFFECT_WORDS:
            break
        kept.append(sentence)
    return " ".join(kept)


def _read(record: RunRecord) -> str:
    """Return which model was read, and on how much text."""
    model = record.model
    shape = f", {model.layers} layers of {model.heads} heads" if model.layers and model.heads else ""
    source = f", {SOURCES.get(str(model.source), model.source)}" if model.source else ""
    texts = [f"{one.name or split}{_size(one.sentences, one.words)}" for split, one in record.corpora.items()]
    return f"{model.name or 'unknown'}{shape}{source}; {'; '.join(texts)}."


def _size(sentences: int | None, words: int | None) -> str:
    sizes: Mapping[str, int | None] = {"sentences": sentences, "words": words}
    told = ", ".join(f"{count(size)} {unit}" for unit, size in sizes.items() if size is not None)
    return f" ({told})" if told else ""

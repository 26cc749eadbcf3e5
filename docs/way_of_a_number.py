"""The way of a number: the stations between a config and a row on the page, declared once, drawn and described.

The test beside this page follows a tiny run and holds every station against it: its place, its order and who calls it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from import_graph import ROOMS
from markdown_text import docstring, escaped


@dataclass(frozen=True)
class Place:
    """A function or class in the code, and the function that calls it."""

    module: str
    name: str
    within: Place | None = None

    @property
    def sentence(self) -> str:
        """The first sentence of what the code says of itself."""
        return first_sentence(self.module, self.name)

    @property
    def room(self) -> str:
        """The room that it lies in."""
        return self.module.partition(".")[0]

    @property
    def callers(self) -> tuple[Place, ...]:
        """The functions that call it, the outermost first."""
        return (*self.within.callers, self.within) if self.within else ()


@dataclass(frozen=True)
class Station(Place):
    """One step: what is done, what goes in, and what comes out."""

    step: str = ""
    goes_in: str = ""
    comes_out: str = ""


RUN = Place("experiments.run.run", "run")
PART = Place("experiments.studies.scope", "Part.score", RUN)
CORPUS = Place("probes.scoring.score", "score_corpus", PART)
BATCH = Place("probes.scoring.batch_targets", "Sheet.sums", CORPUS)
TABLE = Place("probes.evidence.results", "score_table", PART)
PAGE = Place("reports.page.page_model", "gather", RUN)

WAY = (
    Station("experiments.run.config", "load_config", None, "Read the config", "a TOML file", "`Config`: every key set"),
    Station(
        "experiments.inputs.corpora",
        "open_corpora",
        RUN,
        "Open the corpora",
        "`Config`",
        "two `Corpus`: selection split, report split",
    ),
    Station("mha.models.model", "load_model", RUN, "Load the model", "a name or folder", "`Model`: encoder, tokenizer"),
    Station(
        "probes.corpora.corpus",
        "Corpus.sentences",
        RUN,
        "Divide into texts",
        "`Corpus`",
        "`Texts`: one `Document` a sentence",
    ),
    Station(
        "probes.syntax.dependency",
        "Dependency.targets",
        PART,
        "Say what would be right",
        "`Document`: words, trees",
        "`Targets`: query [item], gold keys [pair], label [item]",
    ),
    Station(
        "probes.targets",
        "gather",
        PART,
        "Gather the items of a batch",
        "`Targets` of each text",
        "`Items`: text, query and label [item]",
    ),
    Station(
        "probes.scoring.baselines",
        "Offset.learn",
        PART,
        "Learn the baselines",
        "`Items` of the selection split",
        "counts [label, offset]",
    ),
    Station(
        "mha.pieces",
        "align",
        CORPUS,
        "Cut words into word pieces",
        "words of each text",
        "`Pieces`: ids [piece], word [piece]",
    ),
    Station(
        "mha.batches",
        "collate",
        CORPUS,
        "Make a batch",
        "`Pieces` of each text",
        "`Batch`: ids [batch, piece], to_words [batch, piece, key]",
    ),
    Station(
        "mha.hooks",
        "watch",
        BATCH,
        "Open a hook",
        "the encoder, a function",
        "the function is shown every layer's attention",
    ),
    Station(
        "mha.encoder.encoder",
        "Encoder.forward",
        BATCH,
        "Run the encoder",
        "ids [batch, piece]",
        "vectors [batch, piece, model], layer by layer",
    ),
    Station(
        "mha.attention",
        "attend",
        BATCH,
        "Compute attention",
        "query, key, value [batch, head, piece, head_dim]",
        "attention [batch, head, piece, piece]",
    ),
    Station(
        "mha.models.maps",
        "merge",
        BATCH,
        "Merge word pieces into words",
        "attention [batch, head, piece, piece]",
        "maps [batch, head, query, key]",
    ),
    Station(
        "probes.scoring.scorer",
        "BatchScorer.sums",
        BATCH,
        "Compare maps with gold",
        "maps [batch, head, query, key]; gold of each item",
        "hits, mass, coverage, near-ties [segment, measure, head]",
    ),
    Station(
        "probes.scoring.tally",
        "Tally.add",
        CORPUS,
        "Add up by document",
        "sums of one batch [segment, measure, head]",
        "hits, mass [cluster, head], coverage, near-ties [head] of each label and direction",
    ),
    Station(
        "probes.evidence.question",
        "estimate",
        TABLE,
        "Estimate, with uncertainty",
        "sums [cluster, head] of heads and baselines",
        "columns of the scores: accuracy, margin, ends of intervals [head]",
    ),
    Station(
        "probes.evidence.leads",
        "p_of_leads",
        TABLE,
        "Test against the baselines",
        "hits [cluster, head], [cluster, rival]; margin",
        "p [head] of each grade",
    ),
    Station(
        "experiments.studies.surroundings",
        "Surroundings.verdicts",
        RUN,
        "Reach the verdict",
        "scores of all labels and directions",
        "scores with adjusted p and verdict, one row a head",
    ),
    Station(
        "reports.tables.run_files",
        "write_scores",
        RUN,
        "Write the run folder",
        "scores, one row a head",
        "scores.parquet, scores.csv",
    ),
    Station(
        "reports.run.folder", "RunFolder.read", PAGE, "Read the run folder", "the folder", "`Run`: its tables, checked"
    ),
    Station(
        "reports.scores.best_heads",
        "best_heads",
        PAGE,
        "Select the rows",
        "scores of one probe",
        "rows of the scores, one a label and direction",
    ),
    Station(
        "reports.page.page",
        "html_page",
        RUN,
        "Lay out the page",
        "`Contents`: all that the page says",
        "index.html: one row a label and direction",
    ),
)
"The way that the accuracy of a head takes: the stations in the order in which a run comes to them first."

CALLERS = tuple(dict.fromkeys(caller for station in WAY for caller in station.callers))
"The functions that call the stations, in the order in which a run comes to them."


def first_sentence(module: str, name: str) -> str:
    """Return the first line of a docstring, up to the end of its first sentence."""
    first = docstring(module, *name.split(".")).partition("\n")[0]
    return first.partition(". ")[0].removesuffix(".") + "."


def drawing() -> str:
    """Return the stations as a drawing: boxes from top to bottom, in frames of what calls them, as HTML."""
    legend = "".join(f'<span class="way-room {room}">{room}</span>' for room in ROOMS)
    return f'<div class="way">\n<p class="way-legend">{legend}</p>\n{_drawn(WAY)}\n</div>'


def _drawn(way: Sequence[Station], depth: int = 0) -> str:
    """Draw stations that have their first `depth` callers in common."""
    runs = groupby(way, lambda station: (*station.callers, None)[min(depth, len(station.callers))])
    return "\n".join(
        _frame(caller, _drawn([*some], depth + 1)) if caller else "\n".join(map(_box, some)) for caller, some in runs
    )


def _frame(caller: Place, drawn: str) -> str:
    called = f'<p class="way-caller"><code>{caller.name}</code> calls</p>'
    return f'<div class="way-frame {caller.room}">\n{called}\n{drawn}\n</div>'


def _box(station: Station) -> str:
    number = WAY.index(station) + 1
    return (
        f'<a class="way-station {station.room}" href="#station-{number}"><b>{number}. {escape(station.step)}</b> '
        f"<code>{station.name}</code></a>\n"
        f'<p class="way-flow">{_html(station.comes_out)}</p>'
    )


def _html(text: str) -> str:
    """Return text in which what stands between backticks is code, as HTML."""
    parts = text.split("`")
    return "".join(f"<code>{escape(part)}</code>" if i % 2 else escape(part) for i, part in enumerate(parts))


def stations() -> str:
    """Return the stations in words: what each does, where, what goes in and what comes out, as Markdown."""
    parts = []
    for number, station in enumerate(WAY, 1):
        parts += [
            f"### {number}. {station.step} {{ #station-{number} }}",
            f"`{station.module}`, `{station.name}`: {escaped(station.sentence)}",
            f"In: {escaped(station.goes_in)}  \nOut: {escaped(station.comes_out)}",
        ]
    return "\n\n".join(parts)


def callers() -> str:
    """Return the functions that call the stations, as a list in Markdown."""
    return "\n".join(f"- `{one.module}`, `{one.name}`: {escaped(one.sentence)}" for one in CALLERS)

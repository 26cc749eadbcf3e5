"""The way of a number: the stations between a config and a row on the page, declared once, drawn and described.

The test beside this page follows a tiny run and holds every station against it: its place, its order and who calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from import_graph import ROOMS
from markdown_text import docstring, escaped


@dataclass(frozen=True)
class Station:
    """One step: what goes in, the function or class that does it, and what comes out."""

    step: str
    module: str
    name: str
    goes_in: str
    comes_out: str

    @property
    def sentence(self) -> str:
        """The first sentence of what the code says of itself."""
        return first_sentence(self.module, self.name)


@dataclass(frozen=True)
class Wiring:
    """A function that calls the stations in it, one after the other."""

    module: str
    name: str
    stations: tuple[Station | Wiring, ...]

    @property
    def sentence(self) -> str:
        """As of a station."""
        return first_sentence(self.module, self.name)


WAY: tuple[Station | Wiring, ...] = (
    Station("Read the config", "experiments.run.config", "load_config", "a TOML file", "`Config`: every key set"),
    Wiring(
        "experiments.run.run",
        "run",
        (
            Station(
                "Open the corpora",
                "experiments.inputs.corpora",
                "open_corpora",
                "`Config`",
                "two `Corpus`: selection split, report split",
            ),
            Station(
                "Load the model", "mha.models.model", "load_model", "a name or folder", "`Model`: encoder, tokenizer"
            ),
            Station(
                "Divide into texts",
                "probes.corpora.corpus",
                "Corpus.sentences",
                "`Corpus`",
                "`Texts`: one `Document` a sentence",
            ),
            Wiring(
                "experiments.studies.scope",
                "Part.score",
                (
                    Station(
                        "Say what would be right",
                        "probes.syntax.dependency",
                        "Dependency.targets",
                        "`Document`: words, trees",
                        "`Targets`: query [item], gold keys [pair], label [item]",
                    ),
                    Station(
                        "Gather the items of a batch",
                        "probes.targets",
                        "gather",
                        "`Targets` of each text",
                        "`Items`: text, query and label [item]",
                    ),
                    Station(
                        "Learn the baselines",
                        "probes.scoring.baselines",
                        "Offset.learn",
                        "`Items` of the selection split",
                        "counts [label, offset]",
                    ),
                    Wiring(
                        "probes.scoring.score",
                        "score_corpus",
                        (
                            Station(
                                "Cut words into word pieces",
                                "mha.pieces",
                                "align",
                                "words of each text",
                                "`Pieces`: ids [piece], word [piece]",
                            ),
                            Station(
                                "Make a batch",
                                "mha.batches",
                                "collate",
                                "`Pieces` of each text",
                                "`Batch`: ids [batch, piece], to_words [batch, piece, key]",
                            ),
                            Wiring(
                                "probes.scoring.batch_targets",
                                "Sheet.sums",
                                (
                                    Station(
                                        "Open a hook",
                                        "mha.hooks",
                                        "watch",
                                        "the encoder, a function",
                                        "the function is shown every layer's attention",
                                    ),
                                    Station(
                                        "Run the encoder",
                                        "mha.encoder.encoder",
                                        "Encoder.forward",
                                        "ids [batch, piece]",
                                        "vectors [batch, piece, model], layer by layer",
                                    ),
                                    Station(
                                        "Compute attention",
                                        "mha.attention",
                                        "attend",
                                        "query, key, value [batch, head, piece, head_dim]",
                                        "attention [batch, head, piece, piece]",
                                    ),
                                    Station(
                                        "Merge word pieces into words",
                                        "mha.models.maps",
                                        "merge",
                                        "attention [batch, head, piece, piece]",
                                        "maps [batch, head, query, key]",
                                    ),
                                    Station(
                                        "Compare maps with gold",
                                        "probes.scoring.scorer",
                                        "BatchScorer.sums",
                                        "maps [batch, head, query, key]; gold of each item",
                                        "hits, mass, coverage, near-ties [segment, measure, head]",
                                    ),
                                ),
                            ),
                            Station(
                                "Add up by document",
                                "probes.scoring.tally",
                                "Tally.add",
                                "sums of one batch [segment, measure, head]",
                                "sums [cluster, head] of each label and direction",
                            ),
                        ),
                    ),
                    Wiring(
                        "probes.evidence.results",
                        "score_table",
                        (
                            Station(
                                "Estimate, with uncertainty",
                                "probes.evidence.question",
                                "weigh",
                                "sums [cluster, head] of heads and baselines",
                                "`Evidence`: accuracy, margin [head]; 95 % intervals [2, head]",
                            ),
                            Station(
                                "Test against the baselines",
                                "probes.evidence.leads",
                                "p_of_leads",
                                "hits [cluster, head], [cluster, rival]; margin",
                                "p [head] of each grade",
                            ),
                        ),
                    ),
                ),
            ),
            Station(
                "Reach the verdict",
                "experiments.studies.surroundings",
                "Surroundings.verdicts",
                "scores of all labels and directions",
                "scores with adjusted p and verdict, one row a head",
            ),
            Station(
                "Write the run folder",
                "reports.tables.run_files",
                "write_scores",
                "scores, one row a head",
                "scores.parquet, scores.csv",
            ),
            Wiring(
                "reports.page.page_model",
                "gather",
                (
                    Station(
                        "Read the run folder",
                        "reports.run.folder",
                        "RunFolder.read",
                        "the folder",
                        "`Run`: its tables, checked",
                    ),
                    Station(
                        "Select the rows",
                        "reports.scores.best_heads",
                        "best_heads",
                        "scores of one probe",
                        "`BestHead`, one a label and direction",
                    ),
                ),
            ),
            Station(
                "Lay out the page",
                "reports.page.page",
                "html_page",
                "`Contents`: all that the page says",
                "index.html: one row a label and direction",
            ),
        ),
    ),
)
"The way that the accuracy of a head takes: the stations in the order in which a run comes to them first."


def walk(way: tuple[Station | Wiring, ...] = WAY) -> Iterator[tuple[Station, tuple[Wiring, ...]]]:
    """Yield the stations in order, each with the functions that call it, the outermost first."""
    for part in way:
        if isinstance(part, Station):
            yield part, ()
        else:
            yield from ((station, (part, *within)) for station, within in walk(part.stations))


def wirings(way: tuple[Station | Wiring, ...] = WAY) -> Iterator[Wiring]:
    """Yield the functions that call the stations, the outermost first."""
    for part in way:
        if isinstance(part, Wiring):
            yield part
            yield from wirings(part.stations)


def first_sentence(module: str, name: str) -> str:
    """Return the first line of a docstring, up to the end of its first sentence."""
    first = docstring(module, *name.split(".")).partition("\n")[0]
    return first.partition(". ")[0].removesuffix(".") + "."


def drawing() -> str:
    """Return the stations as a drawing: boxes from top to bottom, in frames of what calls them, as HTML."""
    numbers = {station: number for number, (station, _) in enumerate(walk(), 1)}
    legend = "".join(f'<span class="way-room {room}">{room}</span>' for room in ROOMS)
    return f'<div class="way">\n<p class="way-legend">{legend}</p>\n{_drawn(WAY, numbers)}\n</div>'


def _drawn(way: tuple[Station | Wiring, ...], numbers: dict[Station, int]) -> str:
    return "\n".join(_box(part, numbers[part]) if isinstance(part, Station) else _frame(part, numbers) for part in way)


def _frame(wiring: Wiring, numbers: dict[Station, int]) -> str:
    room = wiring.module.partition(".")[0]
    return (
        f'<div class="way-frame {room}">\n<p class="way-caller"><code>{wiring.name}</code> calls</p>\n'
        f"{_drawn(wiring.stations, numbers)}\n</div>"
    )


def _box(station: Station, number: int) -> str:
    room = station.module.partition(".")[0]
    return (
        f'<a class="way-station {room}" href="#station-{number}"><b>{number}. {escape(station.step)}</b> '
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
    for number, (station, _) in enumerate(walk(), 1):
        parts += [
            f"### {number}. {station.step} {{ #station-{number} }}",
            f"`{station.module}`, `{station.name}`: {escaped(station.sentence)}",
            f"In: {escaped(station.goes_in)}  \nOut: {escaped(station.comes_out)}",
        ]
    return "\n\n".join(parts)


def callers() -> str:
    """Return the functions that call the stations, as a list in Markdown."""
    return "\n".join(f"- `{one.module}`, `{one.name}`: {escaped(one.sentence)}" for one in wirings())

"""Figures of a run for papers, one function each, all in the style of `reports.drawing.figures`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from matplotlib.figure import Figure

from reports.drawing.figures import draw_best_heads, draw_heat_maps, save_figure
from reports.drawing.heatmaps import heat_map_data
from reports.progress import Step, each, silent
from reports.scores.best_heads import CLASSIFIER, best_heads, page_scores
from reports.scores.best_table import requested_probes
from reports.scores.thresholds import run_thresholds

if TYPE_CHECKING:
    from reports.run.folder import RunFolder

FORMATS: Final = (".pdf", ".png", ".svg")
"What a figure can be written as, by the ending of its path."

MOST_ROWS, MOST_MAPS = 15, 4
"Labels of a figure where none are named."


def best_heads_figure(
    run: RunFolder, probe: str, path: str | Path | None = None, *, labels: Sequence[str] = (), title: str | None = None
) -> Figure:
    """Draw the best head of every label of a probe with its 95 % interval, strongest baseline and lexical table.

    Without `labels` they are the surest 15. With `path` it is also written, as PDF, PNG or SVG. Raises ValueError for a
    probe or label that the run did not score.
    """
    found = best_heads(page_scores(run.scores)[0], requested_probes(run, probe)[0])
    rows = [row for row in found if row.n]
    _check_labels(run, probe, labels, [row.label for row in rows])
    shown = [row for row in rows if row.label in labels] if labels else rows[:MOST_ROWS]
    figure = draw_best_heads(shown, _title(run, probe, title), verdicts=probe != CLASSIFIER)
    return _written(figure, path)


def heat_map_figure(
    run: RunFolder, probe: str, path: str | Path | None = None, *, labels: Sequence[str] = (), title: str | None = None
) -> Figure:
    """Draw the accuracy of every head, layers as rows, in the variant of each label with the largest sure margin.

    Chosen heads are framed, heads with a grade dotted. Without `labels` they are the surest 4. With `path` it is also
    written, as PDF, PNG or SVG. Raises ValueError for a probe or label that the run did not score.
    """
    scores = page_scores(run.scores)[0]
    best = best_heads(scores, requested_probes(run, probe)[0])
    data = heat_map_data(scores, probe, best, controlled=run_thresholds(run).controlled)
    by_pair = {(one["label"], one["variant"]): one for one in data["maps"]}
    by_label = {row.label: by_pair[row.label, row.variant] for row in reversed(best) if row.n}
    _check_labels(run, probe, labels, [*by_label])
    names = labels or [*reversed(by_label)][:MOST_MAPS]
    maps = [by_label[label] for label in names]
    return _written(draw_heat_maps(maps, data["layers"], data["heads"], _title(run, probe, title)), path)


FIGURES: Final[Mapping[str, Callable[..., Figure]]] = {"best-heads": best_heads_figure, "heat-map": heat_map_figure}
"The figures that every probe of a run has, by name."


def save_paper_figures(
    run: RunFolder, folder: Path, ending: str, probes: Sequence[str] = (), step: Step = silent
) -> list[Path]:
    """Write both figures of every probe, or of those named, into `folder` and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    saved = []
    for place, probe in enumerate(each("figures of probes", probes or requested_probes(run), step), 1):
        stem = probe if probe.replace("-", "").isalnum() and probe.isascii() else f"probe{place}"
        for name, draw in FIGURES.items():
            if any(row.n for row in best_heads(page_scores(run.scores)[0], requested_probes(run, probe)[0])):
                saved.append(folder / f"{stem}-{name}{ending}")
                draw(run, probe, saved[-1])
    return saved


def _title(run: RunFolder, probe: str, title: str | None) -> str:
    scores = page_scores(run.scores)[0]
    corpus = ", ".join(scores.loc[scores["split"] == "report", "corpus"].drop_duplicates())
    return f"{scores['model'].iloc[0]} on {corpus}: {probe}" if title is None else title


def _check_labels(run: RunFolder, probe: str, labels: Sequence[str], known: Sequence[str]) -> None:
    """Raise ValueError for a label that is not among those that were scored, or where there are none."""
    there = list(dict.fromkeys(known))
    if not there:
        raise ValueError(f"{run.folder}: nothing was scored by {probe!r}")
    for label in labels:
        if label not in there:
            raise ValueError(f"{run.folder}: {probe!r} scored no label {label!r}; there are {', '.join(there)}")


def _written(figure: Figure, path: str | Path | None) -> Figure:
    if path is not None:
        if Path(path).suffix not in FORMATS:
            raise ValueError(f"{path}: a figure is written as {', '.join(FORMATS)}")
        save_figure(figure, Path(path))
    return figure

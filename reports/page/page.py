"""The report of a run: one self-contained HTML page, the same in Markdown, and static figures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from reports.biographies import terms as biographies
from reports.biographies.charts import biography_charts, save_biographies
from reports.drawing.charts import vega
from reports.drawing.figures import save_best_heads, save_heat_maps
from reports.drawing.processes import Save, drawn_beside
from reports.page.columns import tables_of
from reports.page.markdown import markdown_page
from reports.page.page_model import Contents, ProbePart, gather
from reports.progress import Step, each, silent
from reports.run.replacing import replacing
from reports.scores.best_heads import FEW_CLUSTERS
from reports.scores.glossary import LIMITS, MEANING
from reports.sections.report_section import FilledSection
from reports.templates.environment import assets, environment

BEST_IN_FIGURE = 15
"How many rows a static figure of best heads has."


def write_report(run_folder: Path, step: Step = silent) -> Path:
    """Write report/index.html, report/report.md and report/figures/ from the numbers in `run_folder`.

    Returns the path of index.html; `step` is told how far it is. Everything is built beside its place and renamed:
    where anything fails, an older report stays as it was. Raises FileNotFoundError or ValueError where the folder is no
    run folder (`Run.open`).
    """
    contents = gather(Path(run_folder), step)
    target = contents.run.folder / "report"
    with replacing(target) as unfinished:
        figures = unfinished / "figures"
        figures.mkdir()
        of_probes = _saves(contents, figures)
        with drawn_beside([save for saves in of_probes.values() for save in saves.values()], step):
            if contents.biographies is not None:
                save_biographies(contents.biographies, f"{contents.model}: heads in training", figures / "biographies")
            told = each("page: figures of sections", contents.sections, step)
            contents = replace(
                contents,
                sections=tuple(
                    one.drawn(contents.about, figures) if isinstance(one, FilledSection) else one for one in told
                ),
            )
            drawn = {probe: [*saves] for probe, saves in of_probes.items()}
            for name in each("page: texts", ("report.md", "index.html"), step):
                text = html_page(contents) if name == "index.html" else markdown_page(contents, drawn)
                (unfinished / name).write_text(text, encoding="utf-8")
    return target / "index.html"


def _saves(contents: Contents, folder: Path) -> dict[str, dict[str, Save]]:
    """Return what saves the figures of every probe, by probe and by file name without suffix."""
    return {part.name: _probe_saves(contents, part, index, folder) for index, part in enumerate(contents.probes)}


def _probe_saves(contents: Contents, part: ProbePart, index: int, folder: Path) -> dict[str, Save]:
    """Return what saves the figures of one probe. Its name goes into file names only where it is plain."""
    stem = part.name if part.name.isidentifier() and part.name.isascii() else f"probe{index + 1}"
    heat = part.heat
    title = f"{contents.about}: {part.name}"
    saves: dict[str, Save] = {}
    rows = [row for row in part.best if row.n > 0][:BEST_IN_FIGURE]
    if rows:
        best = f"best-{stem}"
        saves[best] = partial(save_best_heads, rows, title, folder / best, verdicts=not part.trained)
    if part.first_maps:
        maps = f"heatmap-{stem}"
        saves[maps] = partial(save_heat_maps, part.first_maps, heat["layers"], heat["heads"], title, folder / maps)
    return saves


def html_page(contents: Contents) -> str:
    """Return the whole page as HTML that loads nothing from anywhere."""
    template = environment().get_template("page.html.j2")
    charts = biography_charts(contents.biographies) if contents.biographies is not None else []
    needed = dict.fromkeys(name for told in contents.sections for name in told.assets)
    drawn = bool(charts) or "charts" in needed
    parts = ["page", "fold", "opening", *["charts"] * drawn, *["biographies"] * (contents.biographies is not None)]
    parts += ["role_marks", *(name for name in needed if name != "charts")]
    return template.render(
        page=contents,
        version=contents.run.record.headscope or "",
        charts=charts,
        biography_terms=biographies.TERMS,
        meaning=MEANING,
        columns=tables_of(contents.run),
        limits=LIMITS,
        few=FEW_CLUSTERS,
        style=assets(parts, ".css"),
        script=assets(parts, ".js"),
        vega=vega() if drawn else "",
    )

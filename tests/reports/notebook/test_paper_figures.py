from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from reports import Run, best_heads_figure, heat_map_figure
from reports.notebook.paper_figures import save_paper_figures
from reports.scores.best_heads import best_heads


@pytest.fixture(scope="module")
def run(written_run: Path) -> Run:
    return Run.open(written_run)


def test_the_figure_of_best_heads_shows_the_named_labels_in_all_their_variants(run: Run):
    figure = best_heads_figure(run, "dependency", labels=["obj", "det"], title="Mine")
    shown = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    found = [row for row in best_heads(run.scores, "dependency") if row.label in ("obj", "det")]
    assert shown == [f"{row.label} · {row.variant}  {row.name}" for row in found]
    assert figure.texts[0].get_text() == "Mine"


def test_without_labels_the_surest_are_shown_under_model_and_corpus(run: Run):
    figure = best_heads_figure(run, "dependency")
    assert len(figure.axes[0].get_yticklabels()) == 15
    assert figure.texts[0].get_text() == "minilm on EWT dev: dependency"
    assert len(heat_map_figure(run, "agreement").axes) == 4 + 1  # and the bar of colours


def test_the_legend_of_best_heads_stands_inside_the_figure(run: Run):
    figure = best_heads_figure(run, "dependency", labels=["obj", "det"])
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert len(legend.get_texts()) == 5
    FigureCanvasAgg(figure).draw()
    box, page = legend.get_window_extent(), figure.bbox
    assert (box.x0 >= page.x0, box.x1 <= page.x1) == (True, True)


def test_a_heat_map_is_of_the_surest_variant_of_its_label(run: Run):
    figure = heat_map_figure(run, "dependency", labels=["obj"])
    surest = next(row for row in best_heads(run.scores, "dependency") if row.label == "obj")
    assert figure.axes[0].get_title(loc="left") == f"obj · {surest.variant}"


@pytest.mark.slow
@pytest.mark.figures
@pytest.mark.parametrize("ending", ["pdf", "png", "svg"])
def test_the_same_numbers_give_the_same_file(ending: str, run: Run, tmp_path: Path):
    for name in ("one", "two"):
        best_heads_figure(run, "agreement", tmp_path / f"{name}.{ending}")
    one, two = (tmp_path / f"{name}.{ending}" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert one.stat().st_size > 1000


def test_every_named_probe_has_both_figures_in_a_file_that_can_be_named(run: Run, tmp_path: Path):
    saved = save_paper_figures(run, tmp_path / "figures", ".svg", ["classifier"])
    assert [path.name for path in saved] == ["classifier-best-heads.svg", "classifier-heat-map.svg"]
    assert all(path.is_file() for path in saved)


def test_what_cannot_be_drawn_is_told(run: Run, tmp_path: Path):
    with pytest.raises(ValueError, match=r"did you mean 'agreement'\?"):
        heat_map_figure(run, "agrement")
    with pytest.raises(ValueError, match="'agreement' scored no label 'obj'; there are all, "):
        best_heads_figure(run, "agreement", labels=["obj"])
    with pytest.raises(ValueError, match=r"own\.jpg: a figure is written as \.pdf, \.png, \.svg"):
        best_heads_figure(run, "agreement", tmp_path / "own.jpg")
    assert list(tmp_path.iterdir()) == []

"""What a notebook shows without a network."""

import base64
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from headscope import attention, compare, load, view
from reports import Run
from reports.notebook.offline import PIXELS, mosaic


def test_nothing_that_a_notebook_shows_loads_from_elsewhere(scored: Callable[..., Run], tiny: Path) -> None:
    run, model = scored(), load(str(tiny))
    maps = attention(model, "the dog sees a <b>cat</b>")
    shown = [run.plot("obj")._repr_svg_(), maps.plot("1-1")._repr_svg_(), maps._repr_html_(), model._repr_html_()]
    shown += [run._repr_html_(), view("the dog sees a cat", model)._repr_html_(), compare(run, run)._repr_html_()]
    for one in shown:
        assert not re.search(r"""(?:src|href)=["']https?:|@import|<b>cat""", one)
    assert all(one.startswith("<svg") for one in shown[:2])


def test_a_mosaic_has_every_map_in_its_place() -> None:
    maps = np.zeros((2, 3, 4, 5), np.float32)
    maps[1, 2, 3, 0] = 1
    data = re.search(r'base64,([^"]*)"', mosaic(maps))
    assert data is not None
    picture = imread(BytesIO(base64.b64decode(data[1])), format="png")[..., :3].sum(2)
    assert picture.shape == (2 * 5, 3 * 6)
    assert np.argwhere(picture < picture.max()).tolist() == [[5 + 3, 2 * 6 + 0]]
    assert f"width: {PIXELS * 18}px" in mosaic(maps)


@pytest.mark.parametrize("form", ["svg", "html", "json"])
def test_a_plot_is_saved_whole(form: str, scored: Callable[..., Run], tmp_path: Path) -> None:
    path = tmp_path / f"obj.{form}"
    scored().plot("obj").save(path)
    written = path.read_text("utf-8")
    assert "accuracy" in written
    assert not re.search(r"""src=["']https?:""", written)

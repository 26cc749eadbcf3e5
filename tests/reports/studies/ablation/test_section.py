"""Ablation on a page: which heads are told, how costs are written, and what is said of chosen heads."""

import json
import re
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from probes.causal.ablation_table import ACCURACY, ATTRACTED, COLUMNS, CONTRASTS, VALUE
from probes.causal.head_sets import KINDS
from reports import Run, write_measures, write_report
from reports.studies.ablation.section import Ablations, ablations
from reports.studies.ablation.tables import ABLATION_CONTRASTS, ABLATIONS, MEASURES
from reports.studies.ablation.tables import KINDS as TOLD_KINDS

pytestmark = pytest.mark.slow

LAYERS, HEADS = 6, 12
HOSTILE = '<b>&"|</script>`'
RUN = {"model": "minilm", "step": pd.NA, "corpus": "EWT dev"}
UNITS = {VALUE: "nats between the two sentences", ACCURACY: "share of pairs", ATTRACTED: "share of pairs"}


def heads(behaviour: str, unit: str, way: str, measure: str, size: float, layers: int = LAYERS) -> pd.DataFrame:
    """Invented costs: head 3-5 costs ten times `size`, without 2-1 the model does better by three times that."""
    cell = np.arange(layers * HEADS)
    cost = size * np.linspace(-0.5, 0.5, len(cell))
    p = np.full(len(cell), 0.8)
    for (layer, head), times in {(2, 4): 10, (1, 0): -3}.items():
        if layer < layers:
            cost[layer * HEADS + head], p[layer * HEADS + head] = size * times, 0.002
    layer, head = cell // HEADS, cell % HEADS
    names = [f"{one + 1}-{other + 1}" for one, other in zip(layer, head, strict=True)]
    places = {"kind": "head", "name": names, "layer": layer, "head": head, "heads": 1}
    return frame(places, behaviour, unit, way, measure, cost, p)


def layers(behaviour: str, unit: str, way: str, measure: str, size: float) -> pd.DataFrame:
    numbers = np.arange(LAYERS)
    places = {"kind": "layer", "name": [str(i + 1) for i in numbers], "layer": numbers, "head": pd.NA, "heads": HEADS}
    return frame(places, behaviour, unit, way, measure, size * (numbers + 1.0), np.full(LAYERS, 0.01))


def frame(
    places: dict[str, object], behaviour: str, unit: str, way: str, measure: str, cost: np.ndarray, p: np.ndarray
) -> pd.DataFrame:
    told = {**RUN, "behaviour": behaviour, "unit": unit, "way": way, "measure": measure, "draw": 0, **places}
    numbers = {"n": 1500, "clusters": 318, "intact": 0.75, "ablated": 0.75 - cost, "cost": cost}
    return pd.DataFrame(told | numbers | {"ci_low": cost - 0.01, "ci_high": cost + 0.02, "p": p, "p_adjusted": p})


def costs() -> pd.DataFrame:
    parts = []
    for way in ("zero", "mean"):
        for measure, unit in UNITS.items():
            size = 0.2 if measure == VALUE else 0.01
            parts += [make("grammar", unit, way, measure, size) for make in (heads, layers)]
    parts.append(heads("sentence embedding", "cosine with the intact embedding", "zero", VALUE, 0.001))
    parts.append(heads(f"4-1 on {HOSTILE}", "accuracy", "zero", VALUE, 0.01, layers=3))
    return pd.concat(parts, ignore_index=True)


def contrasts(p: float = 1 / 21, low: float = 0.02, by: str = "specialised", elsewhere: int = 0) -> pd.DataFrame:
    row = {**RUN, "behaviour": "grammar", "way": "zero", "name": "agreement: all", "by": by, "heads": "3-5 4-1"}
    row |= {"draws": 20, "n": 1500, "clusters": 318, "cost": 0.123, "random_cost": 0.012, "elsewhere": elsewhere}
    row |= {"random_least": -0.01, "random_most": 0.05, "difference": 0.111, "ci_low": low, "ci_high": 0.2, "p": p}
    return pd.DataFrame([row | {"measure": measure, "unit": unit} for measure, unit in UNITS.items()])


@pytest.fixture(scope="module")
def folder(
    written_run: Path, tmp_path_factory: pytest.TempPathFactory, drawing: Callable[..., AbstractContextManager[None]]
) -> Path:
    """A run with ablations and its report; not to be changed."""
    folder = shutil.copytree(written_run, tmp_path_factory.mktemp("ablation") / "minilm-ewt")
    write_measures({"ablations": costs(), "ablation_contrasts": contrasts()}, folder)
    with drawing("ablation"):
        write_report(folder)
    return folder


@pytest.fixture
def tell(written_run: Path, tmp_path: Path) -> Callable[..., Ablations]:
    """Return the function that gathers what a page says of other tables."""

    def tell(**tables: pd.DataFrame) -> Ablations:
        folder = shutil.copytree(written_run, tmp_path / "run")
        write_measures({"ablations": costs(), **tables}, folder)
        found = ablations(Run.open(folder))
        assert found is not None
        return found

    return tell


def test_the_tables_are_those_that_probes_make() -> None:
    own = {"model", "step", "corpus"}
    assert set(ABLATIONS.names) - own == set(COLUMNS)
    assert set(ABLATION_CONTRASTS.names) - own == set(CONTRASTS)
    assert (TOLD_KINDS, MEASURES) == (KINDS, (VALUE, ACCURACY, ATTRACTED))


def test_a_run_without_ablations_has_no_section(written_run: Path, report: Path) -> None:
    assert ablations(Run.open(written_run)) is None
    for name in ("index.html", "report.md"):
        assert "Ablation" not in (report / name).read_text("utf-8")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda frame: frame.assign(kind="pair"), "`kind` is not one of head, layer"),
        (lambda frame: frame.assign(measure="speed"), "`measure` is not one of value"),
        (lambda frame: frame.assign(p=2.0), r"`p` lies outside \[0, 1\]"),
        (lambda frame: frame.assign(intact=1.5), "`intact` of an accuracy lies outside"),
        (lambda frame: frame.assign(name="1-1"), "`name` is not layer"),
        (lambda frame: pd.concat([frame, frame[:1]]), "two rows have the same model, step, behaviour"),
    ],
)
def test_what_cannot_have_been_measured_is_refused(
    change: Callable[[pd.DataFrame], pd.DataFrame], complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=f"ablations.parquet: {complaint}"):
        write_measures({"ablations": change(costs())}, tmp_path)


def test_what_chose_heads_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`by` is not one of specialised, largest margin"):
        write_measures({"ablation_contrasts": contrasts(by="taste")}, tmp_path)


def test_the_costliest_heads_come_first_and_those_that_surely_help_last(tell: Callable[..., Ablations]) -> None:
    grammar, embedding, downstream = tell().behaviours
    names = [row[0] for row in grammar.heads]
    assert (names[0], names[-1], len(names)) == ("3-5", "2-1", 9)
    assert grammar.columns == (
        *("Cost, nats between the two sentences", "accuracy, points", "accuracy with attractors, points"),
        "Cost, mean, nats between the two sentences",
    )
    first, *_, last = grammar.heads
    assert first[1:-1] == ("2.00 [1.99, 2.02]", "10.0 [9.0, 12.0]", "10.0 [9.0, 12.0]", "2.00 [1.99, 2.02]")
    assert last[1] == "−0.600 [−0.610, −0.580]"
    said = "Ablated alone, 1 of 72 heads make the result significantly worse, and 1 significantly better."
    assert said in grammar.summary
    assert [name for name, *_ in grammar.layers] == list("123456")
    assert grammar.layers.texts[5][1] == "1.20 [1.19, 1.22]"
    assert grammar.agreement == (("zero", "mean", "1.00"),)
    assert embedding.heads.texts[0][1:-1] == ("0.0100 [0.0000, 0.0300]",)
    assert "1 significantly cost more than the median head." in embedding.summary
    assert not len(embedding.layers)
    assert downstream.first.scale.unit == "percentage points"


def test_heads_without_a_part_in_a_behaviour_are_empty_on_the_map(tell: Callable[..., Ablations]) -> None:
    maps = tell().heat["maps"]
    assert len(maps) == 8
    assert maps[0]["cost"][2 * HEADS + 4] == 2
    downstream = maps[-1]
    assert downstream["cost"][3 * HEADS :] == [None] * (3 * HEADS)
    assert None not in downstream["cost"][: 3 * HEADS]


@pytest.mark.parametrize(
    ("contrast", "said"),
    [
        ({}, "That is significantly more (difference 11.1 [2.0, 20.0], p = 0.048)."),
        ({"p": 2 / 21}, "That is not significantly more"),
        ({"low": -0.01}, "That is not significantly more"),
        ({"by": "largest margin"}, "without the 2 heads with the largest margins on agreement: all (3-5, 4-1)"),
        ({"elsewhere": 1}, "random heads of the same layers, 1 of them of other layers, for theirs have too few 1.2"),
    ],
)
def test_chosen_heads_are_told_in_words_on_the_most_telling_measure(
    contrast: dict[str, float], said: str, tell: Callable[..., Ablations]
) -> None:
    (sentence,) = tell(ablation_contrasts=contrasts(**contrast)).headlines  # type: ignore[arg-type]  # one is a str
    assert sentence.startswith("grammar, accuracy with attractors: without the 2 heads")
    assert said in sentence
    assert "the model loses 12.3 percentage points (way: zero)" in sentence


CONTRAST_OF_CELLS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => value / 255)
      .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const root = document.querySelector("[data-costs]"), row = root.querySelector("table.grid").tBodies[0].rows[0];
  const cost = Array.from({ length: 201 }, (_, i) => (i - 100) / 100), cells = cost.map(() => row.insertCell());
  paintCosts(root.querySelector(".scale"), { cost, p: cost.map(() => null), unit: "" }, cells, String);
  return cells.map((cell) => {
    const { color, backgroundColor } = getComputedStyle(cell);
    const [dark, light] = [color, backgroundColor].map(luminance).sort((one, other) => one - other);
    return (light + 0.05) / (dark + 0.05);
  });
}"""
"The contrast of numbers and their cells, of costs from -1 to 1 as the page paints them."


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_number_stands_out_from_the_colour_of_its_cell(browser: Any, folder: Path, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto((folder / "report" / "index.html").as_uri())
    contrast = page.evaluate(CONTRAST_OF_CELLS)
    page.close()
    assert len(set(contrast)) > 100, "the colours differ"
    assert min(contrast) >= 4.5, "WCAG 2.2, 1.4.3"


def test_the_page_has_the_map_the_tables_and_the_figure(folder: Path) -> None:
    page = (folder / "report" / "index.html").read_text("utf-8")
    text = (folder / "report" / "report.md").read_text("utf-8")
    assert not re.search(r"\|\n\n\| [0-9]", text), "a blank line would end a table"
    section = page[page.index('<section id="ablation"') :]
    section = section[: section.index("</section>")]
    data = json.loads(re.findall(r'<script type="application/json">(.*?)</script>', section, re.S)[0])
    assert [one["title"] for one in data["maps"]][-1] == f"4-1 on {HOSTILE} (zero)"
    assert "<b>&" not in section
    assert "specialised in agreement: all" in section
    for ending in ("png", "pdf"):
        assert (folder / "report" / "figures" / f"ablation.{ending}").stat().st_size > 1000
    assert "## Ablation" in text
    assert "![What every head costs, a panel a behaviour](figures/ablation.png)" in text
    assert "| 3-5 | 2.00 [1.99, 2.02] |" in text

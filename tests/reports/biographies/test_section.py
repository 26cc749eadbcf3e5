"""Invented biographies of 2 layers x 3 heads: what the section says, draws and embeds."""

import json
import math
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_report
from reports.biographies.charts import biography_charts
from reports.biographies.section import PAIRS, HeadBiographies, head_biographies
from reports.run.biography_files import read_biographies, write_biographies
from reports.run.biography_tables import TABLES
from reports.scores.thresholds import RunThresholds
from tests.reports.conftest import config

pytestmark = pytest.mark.slow

STEPS = (0, 10, 100, 1000)
QUESTIONS = {
    ("position", "next", "other words"): (0.1, 10.0),
    ("dependency", "det", "dependent->head"): (0.6, 100.0),
    ("dependency", "det", "head<-dependent"): (0.7, math.inf),
    ("dependency", '<b>&"|</script>`', "dependent->head"): (0.4, 1000.0),
    ("dependency", "obj", "dependent->head"): (0.5, math.inf),
    ("position", "broad", "all tokens, no peak"): (math.nan, math.inf),
}
"Question -> baseline, and the first checkpoint at which head 1-2 has the role."


def named(heads: Sequence[int]) -> dict[str, Any]:
    return {
        "layer": [head // 3 for head in heads],
        "head": [head % 3 for head in heads],
        "name": [f"{head // 3 + 1}-{head % 3 + 1}" for head in heads],
    }


def score_frame(seed: int, steps: Sequence[int]) -> pd.DataFrame:
    frames = []
    for (probe, label, variant), (baseline, by) in QUESTIONS.items():
        for step in steps:
            accuracy = np.full(6, 0.05 + 0.01 * seed)
            accuracy[1] = 0.9 if step >= by else 0.2
            columns = {"seed": seed, "step": step, "tokens": 7 * step, "corpus": "EWT dev", "probe": probe}
            columns |= {"label": label, "variant": variant, **named(range(6)), "n": 200, "accuracy": accuracy}
            columns |= {"ci_low": accuracy - 0.02, "ci_high": accuracy + 0.02, "mass": accuracy / 2}
            columns |= {"baseline": "" if baseline != baseline else "offset", "baseline_accuracy": baseline}
            frames.append(pd.DataFrame(columns | {"margin": accuracy - baseline, "excess": accuracy - 0.2}))
    return pd.concat(frames, ignore_index=True)


def onset_frame(seeds: Sequence[int], steps: Sequence[int]) -> pd.DataFrame:
    rows = []
    for seed in [*seeds, *([-1] if len(seeds) > 1 else [])]:
        for (probe, label, variant), (baseline, by) in QUESTIONS.items():
            if baseline == baseline:
                comes = math.isfinite(by)
                after = max((step for step in steps if step < by), default=0) if comes else math.inf
                onset = math.sqrt((after + 1) * (by + 1)) - 1 if comes else math.inf
                times = {"onset": onset, "after": after, "by": by, "low": after, "high": math.inf if by > 99 else by}
                margins = {"first_margin": 0.2 - baseline, "peak_margin": 0.9 - baseline, "last_margin": 0.3}
                row = {"seed": seed, "probe": probe, "label": label, "variant": variant, "n": 200, **times, **margins}
                row |= {
                    "seeds": len(seeds) if seed < 0 else 1,
                    "with_onset": int(comes),
                    "onset_share": 0.8,
                    "peak_step": steps[-1],
                }
                heads = {"best_head": "" if seed < 0 else "1-2", "peak_head": "" if seed < 0 else "1-2"}
                rows.append(row | heads | {"role": True})
    return pd.DataFrame(rows)


def life_frame(seed: int) -> pd.DataFrame:
    lives = ("commits", "changes", "wavers", "loses", "never", "never")
    roles = ["position: next", "dependency: det", "dependency: det", "position: next", "", ""]
    return pd.DataFrame(
        {"seed": seed, **named(range(6)), "life": lives, "narrows": [True, *[False] * 5], "first_role": roles}
        | {"last_role": ["position: next", "position: next", "dependency: det", "", "", ""]}
        | {"since": pd.array([10, 100, 1000, None, None, None], dtype="Int64")}
        | {"widest": [3.5, 2.0, 1.0, 1.0, math.nan, math.nan], "last_effective": [1.2, 1.1, 1.0, *[math.nan] * 3]}
    )


def tables(seeds: Sequence[int] = (0, 1), steps: Sequence[int] = STEPS) -> dict[str, pd.DataFrame]:
    """Return all tables of biographies of these seeds."""
    scores = pd.concat([score_frame(seed, steps) for seed in seeds], ignore_index=True)
    best = scores[scores.name == "1-2"].rename(columns={"ci_low": "low", "ci_high": "high"})
    onsets = onset_frame(seeds, steps)
    head_onsets = onsets[(onsets.seed >= 0) & np.isfinite(onsets.onset)].assign(layer=0, head=1, name="1-2")
    grid = pd.MultiIndex.from_product([seeds, steps], names=["seed", "step"]).to_frame(index=False)
    loss = 6 - np.log1p(grid.step)
    every = grid.assign(tokens=7 * grid.step, loss=loss.where(grid.step > 0), evaluation_loss=loss, behaviour=0.75)
    profiles = grid.merge(pd.DataFrame(named(range(6))), how="cross").assign(role="", margin=0.2, effective=1.5)
    order = [("role", "next (other words)", "det (dependent->head)", 0.97, 3.7, 32.3)]
    order += [("kind", "positional", "syntactic", 0.912, 3.7, 177.0)]
    match = {"seed": 0, "step": steps[-1], "other_seed": 1, "other_step": steps[-1], "heads": 6, "distance": 0.123}
    match |= {"null": 0.234, "chance": 0.345, "itself": 0.5, "same_role": 0.6, "same_role_chance": math.nan}
    partners = pd.DataFrame({"seed": 0, "other_seed": 1, **named(range(6)), "partner": "1-1", "distance": 0.1})
    return {
        "biographies": scores,
        "biography_steps": every,
        "biography_onsets": onsets,
        "biography_order": pd.DataFrame(order, columns=list(TABLES["biography_order"].names)),
        "biography_curves": best[best.baseline != ""][list(TABLES["biography_curves"].names)],
        "biography_head_onsets": head_onsets[list(TABLES["biography_head_onsets"].names)],
        "biography_profiles": profiles,
        "biography_lives": pd.concat([life_frame(seed) for seed in seeds], ignore_index=True),
        "biography_matches": pd.DataFrame([match | {"what": "seeds"}, match | {"what": "steps", "distance": 0.03}]),
        "biography_partners": partners.assign(role="", partner_role=""),
    }


def told(folder: Path, frames: dict[str, pd.DataFrame]) -> HeadBiographies:
    write_biographies(frames, folder)
    found = head_biographies(Run.open(folder), RunThresholds())
    assert found is not None
    return found


@pytest.fixture
def found(run_folder: Path) -> HeadBiographies:
    return told(run_folder, tables())


def test_tables_come_back_as_they_were_written(tmp_path: Path) -> None:
    frames = tables()
    write_biographies(frames, tmp_path)
    found = read_biographies(tmp_path)
    assert found is not None
    assert set(found) == set(TABLES)
    for name, frame in found.items():
        pd.testing.assert_frame_equal(
            frame, frames[name][list(TABLES[name].names)].reset_index(drop=True), check_dtype=False
        )
    assert len(pd.read_csv(tmp_path / "biographies.csv")) == len(frames["biographies"])


def test_roles_are_told_in_their_order_by_their_best_variant_that_came(found: HeadBiographies) -> None:
    assert [(row.label, row.variant) for row in found.onsets[:2]] == [
        ("next", "other words"),
        ("det", "dependent->head"),
    ]
    assert (len(found.onsets), found.roles_tested) == (3, 4)
    first, second, _ = found.onsets
    assert (first.interval, second.interval, first.between) == ("[0, 10]", "[10, never]", "0 – 10")
    assert (first.seeds, first.with_onset, first.heads) == (2, 1, ("1-2", "1-2"))
    assert first.before_next == 0.97
    assert math.isnan(second.before_next)


def test_sentences_say_what_was_followed_and_found(found: HeadBiographies) -> None:
    scope, came, order, lives, behaviour = found.sentences
    assert scope == "All heads of 2 seeds were scored at 4 checkpoints, from step 0 to step 1,000."
    assert came.startswith("3 of 4 roles had an onset, the first “next” (step 2, interval [0, 10])")
    assert came.endswith("The interval excludes “never” in 1 of 3.")
    assert order == (
        "Of the roles with an onset, the median positional onset is step 4, the median syntactic one step 177; the "
        "positional one is earlier in 91.2 % of resamples (ties count half)."
    )
    assert lives == (
        "Trajectories of heads: keeps one role (2), switches role (2), unsettled (2), loses its role (2), no role (4)."
    )
    assert behaviour == f"Behaviour at the last checkpoint: 75.0 % (seed 0), 75.0 % (seed 1). {PAIRS}"


def test_heads_are_named_by_their_lives(found: HeadBiographies) -> None:
    commits = found.courses[0]
    assert (commits.life, commits.heads) == ("commits", 2)
    assert commits.names == ("seed 0: 1-1 (position: next)", "seed 1: 1-1 (position: next)")
    assert found.narrowed == commits.names
    loses = next(course for course in found.courses if course.life == "loses")
    assert loses.names[0] == "seed 0: 2-1 (position: next)", "the role that it had"
    assert len(found.lives) == 8


def test_curves_are_means_over_seeds_with_their_range(run_folder: Path) -> None:
    frames = tables()
    shifted = frames["biography_curves"].copy()
    shifted.loc[shifted.seed == 1, "margin"] += 0.1
    found = told(run_folder, frames | {"biography_curves": shifted})
    rows = found.curves[found.curves.role == "next (other words)"]
    assert rows.margin.tolist() == pytest.approx([0.15, 0.85, 0.85, 0.85])
    assert (rows.low.iloc[0], rows.high.iloc[0]) == (pytest.approx(0.1), pytest.approx(0.2))
    one = told(run_folder, tables(seeds=[0]))
    rows = one.curves[one.curves.role == "next (other words)"]
    assert (rows.low.iloc[0], rows.high.iloc[0]) == (pytest.approx(0.18), pytest.approx(0.22)), (
        "the interval of one seed"
    )


def test_the_slider_has_every_accuracy_in_tenths(found: HeadBiographies) -> None:
    by_question = {(one["probe"], one["label"], one["variant"]): one for one in found.slider["maps"]}
    assert len(by_question) == len(QUESTIONS)
    assert (found.slider["layers"], found.slider["heads"], found.left_out) == (2, 3, 0)
    one = by_question["dependency", "det", "dependent->head"]
    assert (one["baseline"], one["baseline_accuracy"], one["n"]) == ("offset", 600, 200)
    assert [life["seed"] for life in one["seeds"]] == [0, 1]
    assert one["seeds"][1]["steps"] == list(STEPS)
    assert one["seeds"][1]["accuracy"][2] == [60, 900, 60, 60, 60, 60]
    assert found.slider["maps"][0]["label"] == "next", "the largest margin is shown first"
    assert by_question["position", "broad", "all tokens, no peak"]["baseline_accuracy"] is None


def test_where_nothing_came_the_section_says_so(run_folder: Path) -> None:
    frames = tables(seeds=[3])
    onsets = frames["biography_onsets"]
    never = dict.fromkeys(("onset", "after", "by", "low", "high"), math.inf)
    frames |= {
        "biography_onsets": onsets.assign(**never, found=0),
        "biography_order": frames["biography_order"].head(0),
    }
    found = told(run_folder, frames)
    assert found.sentences == (
        "All heads of seed 3 were scored at 4 checkpoints, from step 0 to step 1,000.",
        "None of the 4 roles that were tested had an onset.",
        f"Behaviour at the last checkpoint: 75.0 % (seed 3). {PAIRS}",
    )
    assert found.curves.role.nunique() == 4, "the curves are there all the same"


def test_curves_hold_the_numbers_on_an_axis_of_log_steps(found: HeadBiographies) -> None:
    loss, *_, effective = (chart.spec for chart in biography_charts(found))
    x = [layer["encoding"]["x"] for layer in loss["layer"][1]["layer"]]
    assert {one["scale"]["type"] for one in x} == {"symlog"}
    assert all(one["scale"] == {"constant": 1, "domain": [0, STEPS[-1]], "nice": False, "type": "symlog"} for one in x)
    points = values(loss)
    assert [row["step"] for row in points if row["series"] == "evaluation loss"] == list(STEPS)
    assert [row["value"] for row in points] == [*found.progress["loss"][1:], *found.progress["evaluation_loss"]]
    assert points[4]["text"] == f"evaluation loss, step 10: {6 - math.log(11):.3g} nats"
    assert [row["value"] for row in values(effective)] == found.progress["effective"].tolist()


def values(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the data of the line of a chart."""
    line = next(layer for layer in spec["layer"][1]["layer"] if layer["mark"]["type"] == "line")
    rows: list[dict[str, Any]] = line["data"]["values"]
    return rows


@pytest.fixture(scope="module")
def page_folder(written_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on the synthetic run with biographies."""
    folder = shutil.copytree(written_run, tmp_path_factory.mktemp("lives") / "minilm-ewt")
    write_biographies(tables(), folder)
    (folder / "config.toml").write_text(config(biographies={}, model={"source": "checkpoint"}), encoding="utf-8")
    return write_report(folder).parent


@pytest.fixture(scope="module")
def pages(page_folder: Path) -> tuple[str, str]:
    html, markdown = ((page_folder / name).read_text(encoding="utf-8") for name in ("index.html", "report.md"))
    return html, markdown


def section_of(html: str) -> str:
    return html.partition('<section id="biographies"')[2].partition("</section>")[0]


def test_the_section_is_on_both_pages_with_its_numbers(pages: tuple[str, str], found: HeadBiographies) -> None:
    html, markdown = pages
    assert '<a href="#biographies">' in html
    for text in (section_of(html), markdown.partition("## Head biographies")[2].partition("## Examples")[0]):
        for sentence in found.sentences[:1]:
            assert sentence in text
        for row in found.onsets:
            assert row.between in text
        for said in ("97.0", "0.23", "narrows", "optimal assignment"):
            assert said in text
        assert not re.search(r"\bnan\b|\bNone\b|<NA>|\binf\b", text.partition("<script")[0], re.IGNORECASE)


def test_hostile_labels_stay_text(pages: tuple[str, str]) -> None:
    html, markdown = pages
    assert '<b>&"' not in section_of(html)
    assert '<b>&"' not in markdown
    assert html.count("</script>") == html.count("<script")
    data = json.loads(re.findall(r'<script type="application/json">(.*?)</script>', section_of(html))[-1])
    assert '<b>&"|</script>`' in {one["label"] for one in data["maps"]}


def test_a_browser_moves_the_slider_by_keyboard(page_folder: Path, browser) -> None:
    page = browser.new_page(viewport={"width": 380, "height": 800})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((page_folder / "index.html").as_uri() + "#biographies")
    view = page.locator("[data-lives]")
    cell = view.locator("[role=gridcell]").nth(1)
    assert (view.locator("output").inner_text(), cell.inner_text()) == ("step 1,000", "80")
    view.locator("input[type=range]").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    assert (view.locator("output").inner_text(), cell.inner_text()) == ("step 0", "10")
    view.locator("[data-role=column]").select_option("accuracy")
    assert cell.inner_text() == "20"
    view.locator("[data-role=label]").select_option("broad")
    assert "no baseline" in view.locator(".readout").inner_text()
    view.locator("[data-role=play]").click()
    page.wait_for_function("document.querySelector('[data-lives] output').textContent === 'step 1,000'")
    assert view.locator("[data-role=play]").inner_text() == "Play"
    cell.focus()
    page.keyboard.press("ArrowDown")
    assert "Head 2-2 at step 1,000" in view.locator(".readout").inner_text()
    first = page.locator("#biographies [data-chart]").first
    first.scroll_into_view_if_needed()
    first.locator(".mark-symbol.role-mark path").nth(4).click()
    assert view.locator("output").inner_text() == "step 10", "the second point of the evaluation loss"
    line = first.locator(".mark-rule.role-mark line")
    at = [first.locator(".mark-symbol.role-mark path").nth(n).get_attribute("transform").split(",")[0] for n in (4, 5)]
    for place in at:
        stands = "([line, place]) => line.getAttribute('transform').startsWith(place)"
        page.wait_for_function(stands, arg=[line.element_handle(), place])
        view.locator("input[type=range]").press("ArrowRight")
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert errors == []
    page.close()

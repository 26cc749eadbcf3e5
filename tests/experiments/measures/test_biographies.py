"""Invented biographies of 2 layers x 3 heads, and of the heads between subject and verb: what a page says of them."""

import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from experiments.measures.biographies import PAIRS, BiographiesMeasure, agreement, followers
from reports import Run, write_measures, write_report
from reports.blocks.block import Points, Raw, TableBlock
from reports.drawing.trajectories import trajectory_charts
from reports.run.folder import RunFolderError
from reports.tables.biographies import TABLES
from tests.reports.conftest import config

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


def blocks_of(run: Run) -> dict[type, list[Any]]:
    """Return the blocks of the section by kind."""
    found: dict[type, list[Any]] = {}
    for block in BiographiesMeasure.page(run):
        found.setdefault(type(block), []).append(block)
    return found


@pytest.fixture
def folder(bare_run: Path, tmp_path: Path) -> Path:
    return shutil.copytree(bare_run, tmp_path / "minilm-ewt")


def test_sentences_and_tables_tell_onsets_by_the_best_variant_lives_and_matches(measured: Callable[..., Run]) -> None:
    found = blocks_of(measured(**tables()))
    scope, came, order, lives, behaviour = found[Points][0].sentences
    assert scope == "All heads of 2 seeds were scored at 4 checkpoints, from step 0 to step 1,000."
    assert came.startswith("3 of 4 roles had an onset, the earliest is “next” (step 2, interval [0, 10])")
    assert came.endswith("The interval excludes “never” in 1 of 3.")
    assert order == (
        "Of the roles with an onset, the median positional onset is step 4, the median syntactic one step 177; the "
        "positional one is earlier in 91.2 % of resamples (ties count half)."
    )
    assert lives == (
        "Trajectories of heads: keeps one role (2), switches role (2), unsettled (2), loses its role (2), no role (4)."
    )
    assert behaviour == f"Behaviour at the last checkpoint: 75.0 % (seed 0), 75.0 % (seed 1). {PAIRS}"
    onsets, courses, matches = (block.table.texts for block in found[TableBlock])
    assert [row[:2] for row in onsets[:2]] == [
        ("position: next", "other words"),
        ("dependency: det", "dependent->head"),
    ]
    assert [row[3:7] for row in onsets[:2]] == [
        ("[0, 10]", "0 – 10", "97.0", "1 of 2"),
        ("[10, never]", "10 – 100", "–", "1 of 2"),
    ]
    commits, *_, loses, _, narrows = courses
    assert commits[-1] == narrows[-1] == "seed 0: 1-1 (position: next), seed 1: 1-1 (position: next)"
    assert loses[-1].startswith("seed 0: 2-1 (position: next)"), "the role that it had"
    assert [row[1:4] for row in matches] == [("1", "0.03", "0.23"), ("1", "0.12", "0.23")]


def test_where_nothing_came_the_section_says_so_and_near_onsets_rest_on_interpolation(
    measured: Callable[..., Run],
) -> None:
    frames = tables(seeds=[3])
    order, never = frames["biography_order"], dict.fromkeys(("onset", "after", "by", "low", "high"), math.inf)
    none = frames | {
        "biography_onsets": frames["biography_onsets"].assign(**never),
        "biography_order": order.head(0),
    }
    assert blocks_of(measured(**none))[Points][0].sentences == [
        "All heads of seed 3 were scored at 4 checkpoints, from step 0 to step 1,000.",
        "None of the 4 roles that were tested had an onset.",
        f"Behaviour at the last checkpoint: 75.0 % (seed 3). {PAIRS}",
    ]
    for onset, near in ((110.0, True), (100.0, False)):
        changed = frames | {"biography_order": order.assign(one_onset=onset)}
        sentence = blocks_of(measured(**changed))[Points][0].sentences[2]
        said = " Both lie between the checkpoints 100 and 1,000, so their order rests on interpolation."
        assert sentence.endswith(said) is near


def test_a_table_that_is_missing_beside_the_others_is_named(folder: Path) -> None:
    write_measures(tables(), folder)
    (folder / "biography_lives.parquet").unlink()
    with pytest.raises(RunFolderError, match=r"biography_lives\.parquet: missing beside biographies\.parquet"):
        Run.open(folder)


def test_charts_have_losses_and_margins_in_points_as_means_over_seeds_with_their_range() -> None:
    frames = tables()
    curves = frames["biography_curves"]
    frames["biography_curves"] = curves.assign(margin=curves.margin + 0.1 * (curves.seed == 1))
    onsets = frames["biography_onsets"].query("seed == -1 and label == 'next'")
    loss, _, margins, effective = trajectory_charts(frames, onsets)
    points = values(loss.spec)
    expected = 6 - np.log1p(STEPS)
    assert [row["value"] for row in points] == [*expected[1:], *expected]
    assert points[4]["text"] == f"evaluation loss, step 10: {6 - math.log(11):.3g} nats"
    assert margins.title.endswith("(points)")
    rows = values(margins.spec)
    assert [row["value"] for row in rows] == pytest.approx([15, 85, 85, 85])
    assert (rows[0]["low"], rows[0]["high"]) == (pytest.approx(10), pytest.approx(20))
    assert {row["value"] for row in values(effective.spec)} == {1.5}
    bare = frames | {"biography_steps": frames["biography_steps"].assign(behaviour=math.nan, loss=math.nan)}
    assert [chart.title.split()[0] for chart in trajectory_charts(bare, onsets)] == ["Loss", "Best", "Effective"]


def values(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the data of the line of a chart."""
    line = next(layer for layer in spec["layer"][1]["layer"] if layer["mark"]["type"] == "line")
    rows: list[dict[str, Any]] = line["data"]["values"]
    return rows


def test_the_slider_has_every_accuracy_in_tenths_and_counts_labels_that_do_not_fit(
    measured: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = blocks_of(measured(**tables()))[Raw]
    maps = {(one["probe"], one["label"], one["variant"]): one for one in block.content["maps"]}
    assert {*maps} == {*QUESTIONS}
    assert (block.content["layers"], block.content["heads"]) == (2, 3)
    one = maps["dependency", "det", "dependent->head"]
    assert (one["baseline"], one["baseline_accuracy"], one["n"]) == ("offset", 600, 200)
    assert [life["seed"] for life in one["seeds"]] == [0, 1]
    assert one["seeds"][1]["steps"] == list(STEPS)
    assert one["seeds"][1]["accuracy"][2] == [60, 900, 60, 60, 60, 60]
    assert block.content["maps"][0]["label"] == "next", "the largest margin is shown first"
    assert maps["position", "broad", "all tokens, no peak"]["baseline_accuracy"] is None
    monkeypatch.setattr("reports.drawing.trajectories.MOST_CELLS", 2 * 6 * 2 * len(STEPS))
    assert len(blocks_of(measured(**tables()))[Raw][0].content["maps"]) == 2


WHEN = (0, 10, 100)
MARGINS = {
    ("all", "subject->verb", 0): (-0.4, 0.12, 0.05),
    ("all", "subject->verb", 1): (-0.4, 0.02, 0.11),
    ("all", "verb->subject", 0): (-0.4, -0.1, -0.2),
    ("all", "verb->subject", 1): (-0.4, -0.2, -0.1),
    ("attractors=1", "verb->subject", 0): (-0.3, 0.5, 0.5),
    ("attractors=0", "verb->subject", 0): (-0.3, 0.0, 0.0),
    ("distance=1", "verb->subject", 0): (-0.3, 0.9, 0.9),
    ("attractors>=2", "verb->subject", 0): (-0.3, 0.8, 0.8),
}
"Label, direction, seed -> margin of the best head at each step; the last label has few items."


def agreement_tables() -> dict[str, pd.DataFrame]:
    curves, scores = [], []
    for (label, direction, seed), margins in MARGINS.items():
        for step, margin in zip(WHEN, margins, strict=True):
            row: dict[str, Any] = {"probe": "agreement", "label": label, "variant": direction, "seed": seed}
            row |= {"step": step, "name": f"2-{1 + WHEN.index(step)}"}
            curves.append(row | {"margin": margin, "low": margin - 0.02, "high": margin + 0.02})
            n = 49 if label == "attractors>=2" else 200
            score = {"n": n, "accuracy": 0.5 + margin, "baseline": "offset", "baseline_accuracy": 0.5}
            score |= {"layer": 1, "head": WHEN.index(step)}
            scores.append(row | score | {"margin": math.nan, "excess": margin + 0.4})
            scores.append(row | score | {"name": "1-1", "margin": math.nan, "excess": 0.0, "accuracy": 0.0})
    other = {"probe": "position", "label": "all", "variant": "subject->verb", "seed": 0, "step": 0, "name": "2-1"}
    curves.append({**curves[0], **other, "margin": 0.99})
    scores.append({**scores[0], **other})
    return {"biography_curves": pd.DataFrame(curves), "biographies": pd.DataFrame(scores)}


def test_each_seed_has_results_at_its_best_and_at_its_last_step_and_a_sentence_counts_seeds() -> None:
    found = followers(agreement_tables())
    rows = {(one["label"], one["variant"], one["seed"], one["when"]): one for one in found.to_dict("records")}
    assert len(rows) == len(found) == 2 * 6
    assert {*found.label} == {"all", "attractors=0", "attractors=1"}, (
        "those by distance and with few items are not told"
    )
    best, last = (rows["all", "subject->verb", 0, when] for when in ("best", "last"))
    assert [best[name] for name in ("step", "name", "margin", "low", "high")] == [
        10,
        "2-2",
        0.12,
        0.12 - 0.02,
        0.12 + 0.02,
    ]
    assert (best["accuracy"], best["baseline"], best["baseline_accuracy"]) == (0.5 + 0.12, "offset", 0.5)
    assert (last["step"], last["name"], last["margin"], last["n"]) == (100, "2-3", 0.05, 200)
    assert best["excess"] == pytest.approx(0.52)
    assert sorted(agreement(found, 0.1)) == [
        "subject->verb, all verbs: the best head is 10 points above the strongest baseline in 2 of 2 seeds at its best "
        "step, in 1 at the last; the highest margin is +12.0 points (head 2-2 of seed 0 at step 10, 62.0 % against "
        "50.0 % of the offset).",
        "verb->subject, all verbs: the best head is 10 points above the strongest baseline in 0 of 2 seeds at its best "
        "step, in 0 at the last; the highest margin is −10.0 points (head 2-2 of seed 0 at step 10, 40.0 % against "
        "50.0 % of the offset).",
        "verb->subject, attractors=1: the best head is 10 points above the strongest baseline in 1 of 1 seed at its "
        "best step, in 1 at the last; the highest margin is +50.0 points (head 2-2 of seed 0 at step 10, 100.0 % "
        "against 50.0 % of the offset).",
    ]


@pytest.mark.slow
def test_a_browser_moves_the_slider_by_keyboard(folder: Path, browser: Any) -> None:
    write_measures(tables(), folder)
    (folder / "config.toml").write_text(config(biographies={}, model={"source": "checkpoint"}), encoding="utf-8")
    page_folder = write_report(folder).parent
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

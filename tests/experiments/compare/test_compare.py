"""Runs held against each other: planted heads that stay, move, come and go, and differences worked out another way."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.compare.compare import compare, effect_notes, open_sides, training_notes
from experiments.compare.sides import CompareError
from reports import write_examples, write_measures, write_scores
from reports.compare.page import change_table
from reports.compare.record import (
    ALONE,
    GAINED,
    KEPT_ROLE,
    LEADS,
    LOST,
    MOVED,
    SAME,
    TURNED,
    RunPair,
)
from reports.formats import names_apart
from reports.tables.biographies import TABLES
from reports.tables.scores import EXAMPLES
from tests.experiments.findings.planted import planted_run, scored

Heads = Mapping[str, float]
"Head -> accuracy, the chosen one first; heads of 0.5 or more have a grade."

NAMES = ("1-1", "1-2", "2-1", "2-2")
BACK = "head->dependent"
BEFORE: Mapping[tuple[str, str], Heads] = {
    ("obj", ""): {"1-1": 0.9},
    ("det", ""): {"1-2": 0.8},
    ("amod", ""): {"2-1": 0.7},
    ("case", ""): {"2-2": 0.75},
    ("cop", ""): {"1-1": 0.3},
    ("nsubj", ""): {"2-1": 0.6},
    ("nsubj", BACK): {"2-1": 0.3},
}
AFTER: Mapping[tuple[str, str], Heads] = BEFORE | {
    ("det", ""): {"2-2": 0.85, "1-2": 0.4},
    ("amod", ""): {"2-1": 0.3},
    ("case", ""): {"1-2": 0.8, "2-2": 0.7},
    ("cop", ""): {"2-1": 0.55},
    ("nsubj", ""): {"2-1": 0.3},
    ("nsubj", BACK): {"1-1": 0.65},
}
CHANGED = {"obj": SAME, "det": MOVED, "amod": LOST, "case": LEADS, "cop": GAINED, "nsubj": TURNED}


def rows_of(
    roles: Mapping[tuple[str, str], Heads], names: Sequence[str] = NAMES, **values: Any
) -> list[dict[str, Any]]:
    rows = []
    for (label, variant), heads in roles.items():
        for name in names:
            layer, head = (int(part) - 1 for part in name.split("-"))
            accuracy = heads.get(name, 0.1)
            about = {
                "layer": layer,
                "head": head,
                "selected": name == next(iter(heads)),
                "grade": int(accuracy >= 0.5),
            }
            about |= {"variant": variant} if variant else {}
            rows.append(scored("dependency", label, margin=accuracy - 0.4, accuracy=accuracy, **about, **values))
    return rows


@pytest.fixture
def plant(tmp_path: Path) -> Callable[..., str]:
    """Writes a run folder with planted roles and returns its path."""

    def plant(
        name: str,
        roles: Any = BEFORE,
        *,
        config: str = "",
        corpus: str = "a",
        names: Sequence[str] = NAMES,
        **values: Any,
    ) -> str:
        folder = tmp_path / name
        folder.mkdir()
        write_scores(planted_run(rows_of(roles, names, **values)).scores, folder)
        write_examples(pd.DataFrame(columns=[*EXAMPLES.names]), folder)
        texts = {"name": "ewt-dev", "fingerprint": corpus, "sentences": 20}
        record = {"name": name, "headscope": "0", "model": {"name": "m"}, "corpora": {"report": texts, "select": texts}}
        (folder / "run.json").write_text(json.dumps(record))
        (folder / "config.toml").write_text(config)
        return str(folder)

    return plant


def compared(*names: str, match: bool = False) -> list[RunPair]:
    return compare(open_sides(names), names_apart(names), match=match)


def test_a_run_beside_itself_does_not_differ(plant: Callable[..., str]) -> None:
    folder = plant("one")
    (pair,) = compared(folder, folder)
    assert (pair.one, pair.other) == ("one (1)", "one (2)")
    assert pair.counts == dict.fromkeys(pair.counts, 0) | {SAME: 5}
    assert (pair.rows["difference"] == 0).all()
    assert (pair.rows["p_adjusted"] == 1).all()
    assert not pair.rows["significant"].any()
    assert pair.head_counts[KEPT_ROLE] == 4
    assert pair.sentences[1] == "Of 5 roles that one (1) or one (2) has, 5 stay with the same head."


def test_what_was_planted_has_results(plant: Callable[..., str]) -> None:
    (pair,) = compared(plant("before"), plant("after", AFTER))
    told = pair.roles.set_index("label")
    assert told["change"].to_dict() == CHANGED
    assert told["significant"].to_dict() == {"obj": False} | {label: True for label in CHANGED if label != "obj"}
    assert (told.loc["det", "one_head"], told.loc["det", "other_head"]) == ("1-2", "2-2")
    assert (told.loc["det", "partner"], told.loc["det", "partner_accuracy"]) == ("1-2", 0.4)
    assert told.loc["det", "partner_difference"] == pytest.approx(-0.4)
    assert told.loc["amod", "partner_difference"] == told.loc["amod", "difference"] == pytest.approx(-0.4)
    assert pair.sentences[0].endswith("it is more accurate in 4 and less accurate in 2.")
    assert pair.sentences[1] == (
        "Of 6 roles that before or after has, 1 stays with the same head, 1 has another selected head, and the "
        "previous one keeps its grade, 1 moved to another head, 1 is found in another direction, 1 is lost, 1 is "
        "gained."
    )
    heads = pair.heads.set_index("head")
    assert heads["one_role"].to_dict() == {"1-1": "obj", "1-2": "det", "2-1": "amod", "2-2": "case"}
    assert heads["other_role"].to_dict() == {"1-1": "obj", "1-2": "case", "2-1": "cop", "2-2": "det"}
    assert heads.loc["1-2", ["largest", "largest_from", "largest_to"]].tolist() == ["case (dependent->head)", 0.1, 0.8]


def test_matched_heads_are_the_same_head_under_another_name(
    plant: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    matched = pd.DataFrame({"name": NAMES[:3], "partner": ["2-2", "1-2", ""], "distance": [0.1, 0.2, np.nan]})
    found = SimpleNamespace(table=matched, sentences=9, distance=0.15, chance=0.5, null=0.4)
    asked: list[str] = []
    monkeypatch.setattr(
        "experiments.heads.match.match_heads_of", lambda *models, progress: asked.extend(models) or found
    )
    one, other = plant("one", {("obj", ""): {"1-1": 0.9}}), plant("other", {("obj", ""): {"2-2": 0.9}})
    (pair,) = compared(one, other, match=True)
    assert asked == [one, other]
    assert pair.roles["change"].tolist() == [SAME]
    assert "9 sentences" in pair.matched
    assert "0.150 nats on average, beside 0.500 of random pairs" in pair.matched
    heads = pair.heads
    assert heads[["head", "partner", "change"]].to_numpy().tolist() == [
        *(["1-1", "2-2", KEPT_ROLE], ["1-2", "1-2", "no role in either"], ["2-1", "", ALONE], ["2-2", "", ALONE]),
        *(["", "1-1", ALONE], ["", "2-1", ALONE]),
    ]
    assert pair.by_maps


def test_a_head_that_its_map_matches_to_another_name_has_results_with_it(
    plant: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    matched = pd.DataFrame({"name": NAMES[:2], "partner": ["2-2", "1-1"], "distance": [0.1, 0.2]})
    found = SimpleNamespace(table=matched, sentences=9, distance=0.15, chance=0.5, null=0.4)
    monkeypatch.setattr("experiments.heads.match.match_heads_of", lambda *models, progress: found)
    one, other = plant("one", {("obj", ""): {"1-1": 0.9}}), plant("other", {("obj", ""): {"1-1": 0.9}})
    (pair,) = compared(one, other, match=True)
    assert [(row[2], row[3], row[5]) for row in change_table(pair).texts] == [("moved", "1-1", "1-1 (matches 1-2)")]


def test_losses_minimal_pairs_and_onsets_of_training_runs_are_told(plant: Callable[..., str]) -> None:
    sides = open_sides([plant("one"), plant("other")])
    pairs = {"corpus": "grammar", "method": "masked", "level": ["condition", "corpus"]}
    ends = {"ci_low": 0.5, "ci_high": 0.9}
    rows = {"probe": "position", "label": ["next", "first", "last"], "variant": "words"}
    for side, accuracy, losses, onsets in (
        (sides[0], 0.75, [3.0, 2.0], [200.0, 90.0, np.inf]),
        (sides[1], 0.6, [3.5, 2.5], [100.0, 95.0, 8.0]),
    ):
        side.run.tables["behaviour"] = pd.DataFrame(pairs | ends | {"accuracy": [0.1, accuracy]})
        steps = {"seed": [0, 0, 1], "step": [0, 9, 9], "evaluation_loss": [9.0, *losses]}
        side.run.tables["biography_steps"] = pd.DataFrame(steps)
        side.run.tables["biography_onsets"] = pd.DataFrame(rows | {"onset": onsets})
    assert [*training_notes((sides[0], sides[1]), ("A", "B"))] == [
        "Minimal pairs, grammar: 75.0 % [50.0, 90.0] in A, 60.0 % [50.0, 90.0] in B.",
        "Held-out loss at the last checkpoint: 2.500 (mean of 2 seeds) in A, 3.000 (mean of 2 seeds) in B.",
        "Label–direction pairs with an onset: 2 of 3 in A, 3 of 3 in B; of the 2 in both it is earlier for 1 in A, "
        "1 in B.",
    ]
    other = replace(sides[1], run=replace(sides[1].run, config="[behaviour]\nseed = 5\n"))
    first = next(training_notes((sides[0], other), ("A", "B")))
    assert first.startswith("Minimal pairs are not compared: [behaviour] of the configs differs")


def test_heads_that_began_or_ceased_to_matter_are_told(plant: Callable[..., str]) -> None:
    sides = open_sides([plant("one"), plant("other")])
    head = {"step": pd.NA, "kind": "head", "way": "zero", "measure": "value", "unit": "nats", "name": NAMES}
    head |= {"p_adjusted": 0.01}
    for side, costs in ((sides[0], [1.0, 1, -1, 0]), (sides[1], [3e-4, -1, 0, 4e-4])):
        frame = pd.DataFrame(head | {"behaviour": "masked-LM loss", "cost": costs})
        of_layer, other_way = frame.assign(kind="layer", cost=1), frame.assign(way="mean", cost=1)
        side.run.tables["ablations"] = pd.concat([frame, of_layer, other_way])
    own = pd.DataFrame(head | {"behaviour": "labels of reviews", "cost": 0.5, "p_adjusted": [0.01, 0.2, 0.2, 0.2]})
    sides[1].run.tables["ablations"] = pd.concat([sides[1].run.tables["ablations"], own])
    for side, ways in zip(sides, (("zero", "mean"), ("mean", "uniform")), strict=True):
        each = [
            own.assign(behaviour="pairs", way=way, cost=[1, 2 * (way == "mean"), 0, 0], p_adjusted=0.01) for way in ways
        ]
        alone = own.assign(behaviour="embedding", way=ways[side is sides[1]])
        of_sets = alone.assign(kind="selected", way="interchange")
        side.run.tables["ablations"] = pd.concat([side.run.tables["ablations"], *each, alone, of_sets])
    assert [*effect_notes((sides[0], sides[1]), ("A", "B"))] == [
        "masked-LM loss: 1-1 has an effect in both; alone 1-2 has in A, 2-2 has in B. "
        "The largest costs 1 nats in A, 0.0004 nats in B.",
        "pairs (mean): 1-1, 1-2 have an effect in both; alone no head has in A, no head has in B. "
        "The largest costs 2 nats in A, 2 nats in B.",
        "embedding: not compared, heads are ablated by zero in A, uniform in B.",
        "labels of reviews: measured of B alone, where 1-1 has an effect.",
    ]


def keep_counts(folder: str, hits: np.ndarray, n: np.ndarray) -> None:
    """Keep counts of "obj", hits [group, head], in a run folder."""
    about = {"model": "planted", "step": pd.NA, "corpus": "planted", "probe": "dependency", "label": "obj"}
    frame = pd.DataFrame(
        {"variant": "dependent->head", "group": range(len(n)), "n": n} | dict(zip(NAMES, hits.T, strict=True))
    )
    write_measures({"counts": frame.assign(**about)}, Path(folder))


def test_differences_are_paired_where_both_runs_counted_the_same_words(plant: Callable[..., str]) -> None:
    random, n = np.random.default_rng(1), np.full(40, 25)
    easy = random.uniform(0.4, 0.9, (40, 1))
    before = random.binomial(25, easy, (40, 4)).astype(float)
    after = np.minimum(before + random.integers(0, 3, (40, 4)), 25)
    paths = [
        plant(name, {("obj", ""): {"1-1": float(hits[:, 0].sum() / 1000)}})
        for name, hits in (("a", before), ("b", after))
    ]
    for path, hits in zip(paths, (before, after), strict=True):
        keep_counts(path, hits, n)
    row = compared(*paths)[0].rows.iloc[0]
    gap = (after - before)[:, 0] / 25
    assert row["paired"]
    assert row["difference"] == pytest.approx(gap.mean())
    far = stats.t.ppf(0.975, 39) * gap.std(ddof=1) / np.sqrt(40)
    assert (row["difference_low"], row["difference_high"]) == pytest.approx(
        (gap.mean() - far, gap.mean() + far), abs=0.2 * far
    )
    assert row["p_adjusted"] < 0.01
    keep_counts(paths[1], after, n + (np.arange(40) == 3))
    row = compared(*paths)[0].rows.iloc[0]
    assert not row["paired"], "one word more was asked"
    half = np.hypot(0.02, 0.02)
    assert (row["difference_low"], row["difference_high"]) == pytest.approx((gap.mean() - half, gap.mean() + half))


def test_p_values_are_corrected_for_all_pairs_and_heads_together(plant: Callable[..., str]) -> None:
    paths = [plant("before"), plant("after", AFTER), plant("near", BEFORE | {("obj", ""): {"1-1": 0.87}})]
    pairs = compared(*paths)
    best = [0, 0.05, -0.4, 0.05, 0.25, -0.3, 0.35, -0.03, 0, 0, 0, 0, 0, 0]
    before = [-0.4, -0.05, -0.2, -0.2]  # of heads that are not chosen again
    p = 2 * stats.norm.sf(np.abs([*best, *before]) / np.hypot(0.02, 0.02) * 1.959964)
    expected = stats.false_discovery_control(p, method="bh")
    rows = pd.concat([pair.rows for pair in pairs])
    assert rows["difference"].to_numpy() == pytest.approx(best)
    assert rows["p"].to_numpy() == pytest.approx(p[:14])
    assert rows["p_adjusted"].to_numpy() == pytest.approx(expected[:14])
    again = rows["partner"] == rows["other_head"]
    assert rows.loc[~again, "partner_p_adjusted"].to_numpy() == pytest.approx(expected[14:])
    assert rows.loc[again, "partner_p_adjusted"].to_numpy() == pytest.approx(rows.loc[again, "p_adjusted"].to_numpy())
    assert rows["significant"].to_numpy().tolist() == (expected[:14] < 0.05).tolist()


def test_a_probe_that_one_run_lacks_gives_no_head_a_role(plant: Callable[..., str], tmp_path: Path) -> None:
    one = plant("one", {("obj", ""): {"1-1": 0.9}})
    both = plant("both", {("obj", ""): {"1-1": 0.9}})
    other = [
        scored("position", label, margin=0.5, accuracy=0.9, variant="", layer=1, head=0, selected=True, grade=1, n=400)
        for label in ("previous", "next")
    ]
    write_scores(planted_run([*rows_of({("obj", ""): {"1-1": 0.9}}), *other]).scores, tmp_path / "both")
    for pair, where in ((compared(one, both)[0], "both"), (compared(both, one)[0], "both")):
        assert pair.head_counts == dict.fromkeys(pair.head_counts, 0) | {KEPT_ROLE: 1, "no role in either": 3}
        assert pair.notes == (
            f"Only {where} has selected heads of these probes: position (2 label–direction pairs): not compared, and "
            "no role of a head.",
        )


def test_what_only_one_run_has_and_what_else_differs_is_noted(plant: Callable[..., str]) -> None:
    one = plant("one", config="[verdict]\nalpha = 0.01\n[controls]\nrandom = 2\n")
    other = plant("other", {("obj", ""): {"1-1": 0.9}, ("conj", ""): {"1-1": 0.2}}, n=400)
    (pair,) = compared(one, other)
    said = " ".join(pair.notes)
    assert "Only other has a selected head for conj (dependent->head): not compared." in said
    assert "Only one has a selected head for det (dependent->head), amod" in said
    assert "and 1 more: not compared" in said
    assert "different rules" in said
    assert "different controls" in said
    assert "In 1 label–variant pairs the runs scored different numbers of words." in said


def test_runs_with_other_baselines_or_other_files_of_one_name_are_noted(plant: Callable[..., str]) -> None:
    folders = plant("one"), plant("other", config='[probes]\nbaselines = ["offset"]\n')
    for folder, changed in zip(folders, "ab", strict=True):
        record = json.loads((Path(folder) / "run.json").read_text())
        files = {f"/{changed}/rows.csv": changed, f"/{changed}/same.py": "c", f"/mine/{changed}.py": changed}
        files |= {"/en/rows.csv": "d"}
        (Path(folder) / "run.json").write_text(json.dumps(record | {"files": files}))
    (pair,) = compared(*folders)
    assert "different controls or baselines" in " ".join(pair.notes)
    assert "rows.csv: a file of this name has other content in the other run." in pair.notes


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"corpus": "b"}, "are evaluated on different texts: report corpus with fingerprint a and b"),
        ({"config": '[scoring]\nmaps = "norms"'}, "scoring.maps is 'weights' and 'norms'"),
        ({"roles": {("conj", ""): {"1-1": 0.9}}}, "have no label in common"),
        ({"names": ("1-1", "1-2")}, "has heads up to 2-2 and .* up to 1-2, .* --match"),
    ],
)
def test_runs_that_were_asked_something_else_are_refused(
    values: dict[str, Any], said: str, plant: Callable[..., str]
) -> None:
    with pytest.raises(CompareError, match=said):
        compared(plant("one", config='[scoring]\nmaps = "weights"'), plant("other", **values))


def live(folder: str) -> str:
    """Write biographies of two seeds at two steps: a head of "obj" comes in each seed, at step 10."""
    rows, curves = [], []
    for seed, step, best, accuracy in (
        (1, 0, "1-1", 0.3),
        (1, 10, "1-1", 0.8),
        (2, 0, "2-2", 0.3),
        (2, 10, "2-2", 0.7),
    ):
        question = {"seed": seed, "step": step, "probe": "dependency", "label": "obj", "variant": "dependent->head"}
        margin = accuracy - 0.42  # of heads that are chosen on the other half
        curves.append(question | {"name": best, "margin": margin, "low": margin - 0.05, "high": margin + 0.05})
        for row in rows_of({("obj", ""): {best: accuracy}}):
            rows.append(row | question | {"tokens": step, "corpus": "a", "excess": 0.0})
    frames = {name: pd.DataFrame(columns=[*table.names]) for name, table in TABLES.items()}
    frame = pd.DataFrame(rows)
    frame["name"] = (frame["layer"] + 1).astype(str) + "-" + (frame["head"] + 1).astype(str)
    write_measures(frames | {"biographies": frame, "biography_curves": pd.DataFrame(curves)}, Path(folder))
    return folder


@pytest.mark.slow
def test_seeds_and_steps_are_compared_by_their_biographies(plant: Callable[..., str]) -> None:
    folder = live(plant("lives"))
    (seeds,) = compared(f"{folder}@seed-1", f"{folder}@seed-2")
    row = seeds.roles.iloc[0]
    assert (seeds.one, row["change"], row["one_head"], row["other_head"]) == ("lives@seed-1", MOVED, "1-1", "2-2")
    assert (row["one_accuracy"], row["one_low"], row["one_high"]) == pytest.approx((0.78, 0.76, 0.8))
    assert row["difference"] == pytest.approx(-0.1)
    assert row["partner_difference"] == pytest.approx(-0.7), "of the head itself, on all texts"
    assert not row["paired"]
    (steps,) = compared(f"{folder}@step-0", f"{folder}@seed-1@step-10")
    row = steps.roles.iloc[0]
    assert (row["change"], row["one_head"], row["other_head"]) == (GAINED, "1-1", "1-1")
    sides = open_sides([f"{folder}@step-0", f"{folder}@seed-2"])
    assert [Path(side.model).relative_to(folder).as_posix() for side in sides] == [
        *("seed-1/checkpoints/step-00000000", "seed-2/checkpoints/step-00000010")
    ]


@pytest.mark.slow
def test_the_command_writes_page_and_tables(
    headscope: Callable[..., tuple[int, str, str]], plant: Callable[..., str], tmp_path: Path
) -> None:
    one, other, out = plant("before"), plant("after", AFTER), tmp_path / "deep" / "page"
    code, said, err = headscope("compare", one, other, "--out", out)
    assert (code, err) == (0, "")
    assert said.startswith("before → after\nafter differs significantly from before in 6 of 7 labels and directions")
    assert said.splitlines()[-1] == f"page: {out / 'index.html'}"
    files = {"index.html", "report.md", "compare.json", "compare.csv", "heads.csv"}
    assert {path.name for path in out.iterdir()} == files
    assert len(pd.read_csv(out / "compare.csv")) == 7
    assert pd.read_csv(out / "heads.csv")["head"].tolist() == [*NAMES]
    before = (out / "index.html").read_text(encoding="utf-8")
    (out / "index.html").unlink()
    assert headscope("report", out) == (0, f"page: {out / 'index.html'}\n", "")
    assert (out / "index.html").read_text(encoding="utf-8") == before
    code, said, err = headscope("compare", one, other, "--out", out, "--json")
    record = json.loads(said)
    assert (code, err, record["page"]) == (0, "", str(out / "index.html"))
    assert record["pairs"][0]["roles"] == dict.fromkeys(CHANGED.values(), 1)
    assert record["pairs"][0]["rows"][1]["partner_accuracy"] == 0.4
    code, _, err = headscope("compare", one, other, "--out", one)
    assert (code, err) == (2, f"headscope: {one} is a run folder; choose another --out\n")

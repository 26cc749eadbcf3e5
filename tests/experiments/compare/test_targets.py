"""Runs gathered for one page: numbers of the scores' rows, effects of the same weights, and what is refused."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from experiments.compare.answers import strongest_baseline
from experiments.compare.targets import answers, effects, open_runs
from probes import get_probe
from reports import Run, read_scores, write_examples, write_measures, write_scores
from reports.compare.target_tables import TARGETS
from reports.page.publishing import publish
from reports.tables.scores import EXAMPLES
from tests.experiments.conftest import Said
from tests.reports.conftest import write_run

pytestmark = pytest.mark.slow

ABOUT = {"step": pd.NA, "corpus": "EWT dev", "kind": "head", "draw": 0, "heads": 1, "n": 300, "clusters": 60}
NATS, ACCURACY = (
    {"measure": "value", "unit": "nats between the two sentences"},
    {"measure": "accuracy", "unit": "share"},
)
LOSS = {"behaviour": "masked-LM loss", "measure": "value", "unit": "nats a masked piece"}

Plant = Callable[..., Path]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the synthetic run of the targets and one relation, without examples; not to be changed."""
    folder = write_run(tmp_path_factory.mktemp("targets") / "base")
    scores = read_scores(folder / "scores.parquet")
    targets = {probe for target in TARGETS for probe in target.probes}
    write_scores(scores[scores["probe"].isin(targets) | (scores["label"] == "obj")], folder)
    write_examples(pd.DataFrame(columns=[*EXAMPLES.names]), folder)
    return folder


@pytest.fixture
def plant(base: Path, tmp_path: Path) -> Plant:
    """Copies the synthetic run with another record or fewer probes, and returns its folder."""

    def plant(name: str, probes: tuple[str, ...] = (), **record: Any) -> Path:
        folder = shutil.copytree(base, tmp_path / "runs" / name)
        told = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        model = told["model"] | record.pop("model", {})
        (folder / "run.json").write_text(json.dumps(told | record | {"name": name, "model": model}), encoding="utf-8")
        if probes:
            scores = read_scores(folder / "scores.parquet")
            write_scores(scores[scores["probe"].isin(probes)], folder)
        return folder

    return plant


def costs(of: Mapping[str, float], *, behaviour: str = "grammar", way: str = "zero", **about: str) -> pd.DataFrame:
    """Return what each of 72 heads costs: 0.01 by layer, or what is said of it."""
    places = [(layer, head) for layer in range(6) for head in range(12)]
    rows = []
    for layer, head in places:
        name = f"{layer + 1}-{head + 1}"
        cost = of.get(name, 0.01 * (layer + 1))
        p = 0.001 if name in of else 0.8
        numbers = {
            "intact": 0.75,
            "ablated": 0.75 - cost,
            "cost": cost,
            "ci_low": cost - 0.005,
            "ci_high": cost + 0.005,
        }
        rows.append({"name": name, "layer": layer, "head": head, "p": p, "p_adjusted": p, **numbers})
    return pd.DataFrame(rows).assign(**ABOUT, model="m", behaviour=behaviour, way=way, **about)


def contrast(heads: str, name: str = "agreement", **about: str) -> dict[str, Any]:
    row = {**ABOUT, "model": "m", "behaviour": "grammar", "way": "zero", "name": name, "by": "specialised"}
    row |= {"heads": heads, "elsewhere": 0, "draws": 20, "cost": 0.4, "random_cost": 0.01, "random_least": 0.0}
    return row | {"random_most": 0.1, "difference": 0.39, "ci_low": 0.3, "ci_high": 0.5, "p": 0.048} | about


def gathered(*folders: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    runs = open_runs([str(folder) for folder in folders])
    asked = answers(runs)
    return asked, effects(asked, runs)


def head_of(asked: pd.DataFrame, probe: str, label: str, variant: str) -> str:
    same = (asked["probe"] == probe) & (asked["label"] == label) & (asked["variant"] == variant)
    return str(asked.loc[same, "name"].iloc[0])


# --- answers


@pytest.mark.parametrize(
    ("rule", "strongest", "ends"), [(0.7, "first noun", (0.05, 0.06)), (float("nan"), "table", (0.03, 0.04))]
)
def test_a_rule_counts_where_there_is_one(rule: float, strongest: str, ends: tuple[float, float]) -> None:
    row = SimpleNamespace(
        **{"accuracy": 0.8, "baseline_accuracy": 0.2, "baseline": "offset", "margin_low": 0.01, "margin_high": 0.02},
        **{"lexical_accuracy": 0.6, "lexical_margin_low": 0.03, "lexical_margin_high": 0.04},
        **{"rule_accuracy": rule, "rule": "first noun", "rule_margin_low": 0.05, "rule_margin_high": 0.06},
    )
    found = strongest_baseline(row)  # type: ignore[arg-type]
    assert found["strongest"].endswith(strongest)
    assert (found["lead_low"], found["lead_high"]) == ends


def test_targets_come_in_their_order_and_runs_as_they_are_given(plant: Plant) -> None:
    first, second = plant("z", probes=("position", "agreement")), plant("a")
    asked, _ = gathered(first, second)
    assert list(dict.fromkeys(zip(asked["target"], asked["run"], strict=True))) == [
        *(("agreement", "z"), ("agreement", "a"), ("coreference", "a"), ("position", "z"), ("position", "a")),
    ]
    position = asked[(asked["target"] == "position") & (asked["run"] == "a")]
    assert position["label"].tolist()[:2] == ["previous", "next"]
    leading = asked[asked["run"] == "a"].drop_duplicates("target")
    variants = [get_probe(name).variants[0] for name in ("agreement", "coreference")]
    assert [*zip(leading["label"], leading["variant"], strict=True)][:2] == [("all", variant) for variant in variants]


def test_heads_with_a_higher_grade_than_the_selected_one_are_named(plant: Plant) -> None:
    asked, _ = gathered(plant("a"))
    previous = asked[asked["label"] == "previous"].iloc[0]
    assert (previous["grade"], previous["highest"]) == (1, 1)
    assert {"5-5", "6-6"} < set(previous["highest_heads"].split(", "))
    other = asked[(asked["probe"] == "coreference") & (asked["label"] == "proper")].iloc[0]
    assert (other["highest"], other["highest_heads"]) == (0, "")


# --- effects


def test_effects_come_from_another_run_of_the_same_weights(plant: Plant) -> None:
    asks, measures = plant("a"), plant("b", probes=("dependency",))
    chosen = head_of(gathered(asks)[0], "agreement", "all", "verb->subject")
    layer = int(chosen.partition("-")[0])
    write_measures({"ablations": costs({chosen: 0.3, "6-12": 0.5}, **NATS)}, measures)
    _, found = gathered(asks, measures)
    (row,) = found[(found["target"] == "agreement") & (found["name"] == chosen)].to_dict("records")
    assert (row["run"], row["model"], row["behaviour"], row["own"]) == ("b", "minilm", "grammar", True)
    assert (row["cost"], row["rank"], row["heads"]) == (0.3, 2, 72)
    assert row["median_cost"] == pytest.approx(0.035)
    beside = [0.5 if layer == 6 and head == 12 else 0.01 * layer for head in range(1, 13)]
    beside.remove(beside[0])
    assert row["layer_cost"] == pytest.approx(sum(beside) / 11)
    assert (row["together"], row["difference"] == row["difference"]) == ("", False)
    assert set(found["target"]) == {"agreement"}, "pairs on agreement say nothing of other targets"


def test_heads_that_damage_as_much_are_found_in_the_same_run(plant: Plant) -> None:
    """Heads cost 0.01 nats of loss a layer below theirs; 4-1, 4-2 and 4-3 alone cost about 1, as the chosen head."""
    asks = plant("a")
    chosen = head_of(gathered(asks)[0], "agreement", "all", "verb->subject")
    alike = [name for name in ("4-1", "4-2", "4-3", "4-4") if name != chosen][:3]
    loss = costs({chosen: 1.0, **dict.fromkeys(alike, 1.1)}, **LOSS)
    pairs = costs({chosen: 0.3, **dict(zip(alike, (0.1, 0.2, 0.3), strict=True))}, **NATS)
    write_measures({"ablations": pd.concat([pairs, loss])}, asks)
    _, found = gathered(asks)
    rows = found[(found["name"] == chosen) & (found["target"] == "agreement")].set_index("behaviour")
    row = rows.loc["grammar"]
    assert (row["damage"], row["damaging"], row["damaging_cost"]) == pytest.approx((1.0, 3, 0.2))
    assert row["damaging_low"] < 0.2 < row["damaging_high"]
    of_any_text = found[found["behaviour"] == LOSS["behaviour"]]
    assert len(of_any_text)
    assert of_any_text["damage"].isna().all(), "it is the damage itself"
    write_measures({"ablations": pairs}, asks)
    assert gathered(asks)[1]["damage"].isna().all()


@pytest.mark.parametrize("model", [{"source": "random"}, {"sha256": None, "name": "another"}], ids=str)
def test_effects_of_other_weights_are_not_taken(plant: Plant, model: dict[str, Any]) -> None:
    asks, measures = plant("a"), plant("b", probes=("dependency",), model=model)
    write_measures({"ablations": costs({}, **NATS)}, measures)
    assert gathered(asks, measures)[1].empty


def test_the_first_run_and_the_first_way_count(plant: Plant) -> None:
    one, other = plant("a"), plant("b")
    both = pd.concat([costs({}, **NATS), costs({}, way="mean", **NATS).assign(cost=9.0, ci_high=9.1)])
    write_measures({"ablations": both}, one)
    write_measures({"ablations": costs({}, **NATS).assign(cost=8.0, ci_high=8.1)}, other)
    _, found = gathered(one, other)
    assert set(found["way"]) == {"zero"}
    assert set(found["run"]) == {"a"}
    assert found["cost"].max() < 1


def test_what_any_text_shows_stands_in_and_is_marked(plant: Plant) -> None:
    folder = plant("a")
    write_measures({"ablations": costs({}, **LOSS)}, folder)
    _, found = gathered(folder)
    assert dict(zip(found["target"], found["own"], strict=True)) == {
        "agreement": False, "coreference": False, "position": True,
    }  # fmt: skip


def test_random_sets_are_told_where_they_hold_the_head_and_are_of_the_target(plant: Plant) -> None:
    folder = plant("a")
    asked, _ = gathered(folder)
    chosen = head_of(asked, "agreement", "all", "verb->subject")
    rows = [
        contrast(f"{chosen} 1-1", "dependency: obj", **NATS),
        contrast("1-1 1-2", "agreement: attractors=1", **NATS),
        contrast(f"{chosen} 2-2", **NATS),
        contrast(f"{chosen} 3-3", **ACCURACY),
    ]
    write_measures({"ablations": costs({}, **NATS), "ablation_contrasts": pd.DataFrame(rows)}, folder)
    _, found = gathered(folder)
    (row,) = found[found["name"] == chosen].to_dict("records")
    assert (row["together"], row["random_cost"], row["p_random"]) == (f"{chosen} 2-2", 0.01, 0.048)
    assert (row["difference_low"], row["difference_high"]) == (0.3, 0.5)


# --- names and mistakes


def test_models_that_share_a_name_are_told_apart(plant: Plant) -> None:
    runs = open_runs([str(plant("a")), str(plant("b", model={"source": "random"})), str(plant("c"))])
    assert [run.model for run in runs] == ["minilm", "minilm (random weights)", "minilm"]
    other = open_runs([str(plant("d")), str(plant("e", model={"sha256": "f" * 64}))])
    assert [run.model for run in other] == ["minilm of d", "minilm of e"]


def test_what_was_published_of_runs_gives_the_same_numbers(plant: Plant, tmp_path: Path) -> None:
    scored, effects_of = plant("a"), plant("b", probes=("position",))
    write_measures({"ablations": costs({"3-2": 0.2}, **NATS)}, effects_of)
    published = [tmp_path / "published" / folder.name for folder in (scored, effects_of)]
    for folder, out in zip((scored, effects_of), published, strict=True):
        publish(folder, out)
        assert not (out / "examples.parquet").exists()
    for found, expected in zip(gathered(*published), gathered(scored, effects_of), strict=True):
        assert len(expected)
        pd.testing.assert_frame_equal(found, expected, rtol=1e-5, atol=1e-6, check_dtype=False)
    with pytest.raises(FileNotFoundError, match=r"examples\.parquet missing"):
        Run.open(published[0])


def test_the_command_ends_with_its_page_and_the_page_is_made_anew(
    headscope: Callable[..., Said], plant: Plant, tmp_path: Path
) -> None:
    out = tmp_path / "page"
    said = headscope("targets", plant("a"), plant("b", probes=("position",)), "--out", out)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[0] == "Subject-verb agreement"
    assert said.out.splitlines()[-1] == f"page: {out / 'index.html'}"
    before = {name: (out / name).read_bytes() for name in ("index.html", "report.md")}
    (out / "index.html").unlink()
    assert headscope("report", out).out == f"page: {out / 'index.html'}\n"
    assert {name: (out / name).read_bytes() for name in before} == before
    missing = headscope("targets", tmp_path / "none", "--out", out)
    assert (missing.code, missing.err.startswith(f"headscope: {tmp_path / 'none'}: no such folder")) == (2, True)

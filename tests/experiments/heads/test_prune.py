"""Models of runs without some heads: which go, what is written, and what is said of it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hub
from safetensors.torch import load_file
from torch import Tensor

from experiments.run.config import load_config
from experiments.run.run import run
from headscope import ablate
from mha import Ablate, align, collate, intervene, load_model
from reports import Run
from tests.probes.causal.test_labels import opinions, planted
from tests.probes.causal.test_labels import tokenizer as tokenizer_of

WORDS = ("the", "king", "saw", "the", "dogs", ".")
MEASURES = 'behaviours=["loss"], items=12'


@pytest.fixture(scope="module")
def measured(base: Path, speaker: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run with ablation, importance and gates of a tiny masked LM of 2 x 2 heads."""
    changes = [f'model.name="{speaker}"', f"ablation={{{MEASURES}}}", f"importance={{{MEASURES}}}"]
    changes.append(f"gates={{{MEASURES}, steps=2, prices=[0.1]}}")
    return run(load_config(base, changes), tmp_path_factory.mktemp("runs"), page=False)


def written(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "pruned.json").read_text("utf-8"))
    return found


def test_a_pruned_folder_opens_in_transformers_with_the_outputs_of_the_ablated_model(
    measured: Path, speaker: Path, headscope: Callable[..., Any], tmp_path: Path
) -> None:
    code, said, _ = headscope("prune", measured, "--heads", "1-2,2-1", "--out", tmp_path / "small")
    assert code == 0
    model = load_model(str(speaker))
    batch = collate(align(model.tokenizer, [WORDS]))
    with torch.no_grad(), intervene(model.module, Ablate(0, 1), Ablate(1, 0)):
        expected: Tensor = model.run(batch.ids, None)
    theirs = hub.AutoModelForMaskedLM.from_pretrained(tmp_path / "small").eval()
    with torch.no_grad():
        torch.testing.assert_close(theirs.bert(batch.ids)[0], expected, rtol=0, atol=1e-5)
    tokenizer = hub.AutoTokenizer.from_pretrained(tmp_path / "small")
    assert tokenizer(" ".join(WORDS))["input_ids"] == batch.ids[0].tolist()
    found = written(tmp_path / "small")
    assert (found["heads"], found["by"], found["of"]) == (["1-2", "2-1"], "name", 4)
    assert found["difference"] < 1e-5
    assert found["weights"][0] - found["weights"][2] == 2 * 8 * (4 * 16 + 3)
    assert all(one > 0 for one in found["milliseconds"])
    assert "2 of 4 heads pruned, by name: 1-2, 2-1" in said
    assert "of full size, pruned heads are zero; transformers opens it as BertForMaskedLM" in said
    assert "in memory, mha.causal.pruning.smaller takes the heads out: smaller by" in said


@pytest.mark.parametrize("inner", ["", "0_Transformer"])
def test_what_sentence_transformers_saved_around_a_model_is_kept_and_no_weight_made_up(
    inner: str, base: Path, speaker: Path, headscope: Callable[..., Any], tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "small"
    shutil.copytree(speaker, whole / inner)
    model = hub.AutoModel.from_pretrained(speaker, add_pooling_layer=True)
    weights = {name: one for name, one in model.state_dict().items() if "pooler" not in name}
    model.save_pretrained(whole / inner, state_dict=weights)
    files = {
        "modules.json": json.dumps([{"idx": n, "path": path} for n, path in enumerate([inner, "1_Pooling", "2_Gone"])]),
        "1_Pooling/config.json": '{"pooling_mode": "cls"}',
        "config_sentence_transformers.json": '{"prompts": {"query": "query: "}, "default_prompt_name": "query"}',
        f"{inner}/sentence_bert_config.json": '{"max_seq_length": 9}',
    }
    (whole / "1_Pooling").mkdir()
    for name, text in files.items():
        (whole / name.lstrip("/")).write_text(text)
    folder = run(load_config(base, [f'model.name="{whole}"']), tmp_path / "runs", page=False)
    assert headscope("prune", folder, "--heads", "1-2", "--out", out).code == 0
    assert {name: (out / name.lstrip("/")).read_text() for name in files} == files
    assert load_file(out / inner / "model.safetensors").keys() == weights.keys()
    assert load_model(str(out)).notes == load_model(str(whole)).notes
    assert hub.AutoModel.from_pretrained(written(out)["folder"]).config.num_hidden_layers == 2


@pytest.mark.parametrize(
    ("by", "table", "column"),
    [("ablation", "ablations", "cost"), ("gradient", "importance", "importance"), ("gates", "gates", "gate")],
)
def test_the_heads_with_the_least_effect_go_and_the_behaviour_is_of_sentences_that_did_not_choose_them(
    by: str, table: str, column: str, measured: Path, headscope: Callable[..., Any], tmp_path: Path
) -> None:
    code, said, _ = headscope("prune", measured, "--heads", "50%", "--by", by, "--out", tmp_path / "small")
    rows = Run.open(measured).tables[table]
    rows = rows[rows.kind == "head"] if "kind" in rows else rows
    least = rows.sort_values([column, "layer", "head"], kind="stable").name.head(2)
    found = written(tmp_path / "small")
    assert code == 0
    assert found["heads"] == sorted(least)
    (row,) = found["behaviours"]
    assert (row["behaviour"], row["items"]) == ("masked-LM loss", "sentences of the selection split")
    np.testing.assert_allclose(row["cost"], row["intact"] - row["ablated"])
    last, stays = rows.groupby(["layer", "head"])[column].mean().sort_values().iloc[1:3]
    assert f"by {by} (masked-LM loss" in said
    assert ("heads have the effect of the last that goes" in said) == (last == stays)
    assert f"{row['intact']:.3f}".lstrip("-") in said


def test_without_a_behaviour_it_is_that_of_the_model_and_of_pairs_others_than_those_of_the_effects(
    speaker: Path, base: Path, headscope: Callable[..., Any], tmp_path: Path
) -> None:
    headscope("prune", run(load_config(base), tmp_path / "runs", page=False), "--heads", "1-1", "--out", tmp_path / "a")
    assert written(tmp_path / "a")["behaviours"][0]["behaviour"] == "sentence embedding"
    paired = [f'model.name="{speaker}"', 'ablation={behaviours=["grammar"], items=6}', 'name="paired"']
    folder = run(load_config(base, paired), tmp_path / "runs", page=False)
    headscope("prune", folder, "--heads", "1", "--out", tmp_path / "b")
    rows = written(tmp_path / "b")["behaviours"]
    assert {row["items"] for row in rows} == {"other pairs"}
    assert rows[0]["intact"] != Run.open(folder).tables["ablations"].intact.iloc[0]


def test_of_a_classifier_the_cost_is_of_the_rows_that_are_named_or_those_that_chose(
    base: Path, headscope: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (classifier, (layer, head)), tokenizer = planted(3), tokenizer_of()
    classifier.save_pretrained("mine")
    tokenizer.save_pretrained("mine")
    for name, seed in (("fit", 1), ("held", 2)):
        opinions(30, seed).to_csv(f"{name}.csv", index=False)
    changes = ['model.name="mine"', 'ablation={behaviours=["fit.csv"]}', "controls={random=0, permuted=0, orders=0}"]
    folder = run(load_config(base, changes), tmp_path / "runs", page=False)
    found = {}
    for on in ("held.csv", "fit.csv", ""):
        command = ("prune", folder, "--heads", "7", "--out", tmp_path / f"without-{on}", *(("--on", on) if on else ()))
        assert headscope(*command).code == 0
        found[on] = written(tmp_path / f"without-{on}")
    assert {row["items"] for row in found["held.csv"]["behaviours"]} == {"rows of held.csv"}
    assert {row["behaviour"] for row in found["held.csv"]["behaviours"]} == {"labels of held"}
    assert all("that chose the heads" in row["items"] for row in found[""]["behaviours"])
    assert found[""]["behaviours"] == found["fit.csv"]["behaviours"]
    assert f"{layer + 1}-{head + 1}" not in found[""]["heads"]
    expected = ablate(load_model("mine"), found["held.csv"]["heads"], tmp_path / "held.csv").frame
    assert [row["cost"] for row in found["held.csv"]["behaviours"]] == pytest.approx(
        expected["cost"].tolist(), abs=1e-6
    )


def test_what_a_run_ablated_is_said_below_its_table(measured: Path) -> None:
    run = Run.open(measured)
    effect = "ablating the head has a significant effect"
    assert effect in " ".join(str(run).split())
    assert effect in run._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--heads", "4"), "--heads 4: expected 1 to 3 heads, or a share of 4"),
        (("--heads", "1.5"), "--heads 1.5: expected 1 to 3 heads"),
        (("--heads", "5%"), "--heads 5%: expected 1 to 3 heads"),
        (("--heads", "3-1"), "has no head '3-1'; heads are named layer-head from 1: 1-1 to 2-2"),
        (("--heads", "1-1", "--by", "gates"), "--heads 1-1 names the heads, which takes no --by"),
        (("--heads", "1", "--by", "chance"), "--by chance: expected ablation, gradient, gates"),
    ],
)
def test_heads_that_cannot_be_chosen_are_refused_before_anything_is_written(
    options: tuple[str, ...], message: str, measured: Path, headscope: Callable[..., Any], tmp_path: Path
) -> None:
    code, _, said = headscope("prune", measured, *options, "--out", tmp_path / "small")
    assert code == 2
    assert message in said
    assert not (tmp_path / "small").exists()


def test_what_a_run_lacks_is_named_with_how_to_get_it(
    base: Path, headscope: Callable[..., Any], tmp_path: Path
) -> None:
    folder = run(load_config(base, ['importance={behaviours=["embedding"], items=6}']), tmp_path, page=False)
    code, _, said = headscope("prune", folder, "--heads", "1", "--out", tmp_path / "small")
    assert code == 2
    assert "has no effect of every head by ablation: run again with --set 'ablation.behaviours=[\"loss\"]'" in said
    assert "or --by gradient, which it has" in said
    assert "is there already: choose another --out" in headscope("prune", folder, "--heads", "1", "--out", tmp_path).err
    random = run(load_config(base, ['model.source="random"', 'name="random"']), tmp_path, page=False)
    command = ("prune", random, "--heads", "1-1", "--out", tmp_path / "small")
    assert "is a run of random weights: nothing to use" in headscope(*command).err

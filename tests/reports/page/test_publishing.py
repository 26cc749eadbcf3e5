"""What is published of a folder is short, small, of no one machine, and has no sentence of a corpus."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import Run
from reports.page.publishing import PublishingError, kind_of, placeless, placeless_texts, publish
from reports.run.record import Lost, read_record
from tests.reports.conftest import TEXTS
from tests.reports.statements.test_claim_page import RECORDS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def run_folder(attended_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with sentences, whose record names folders of one machine and a word that was dropped."""
    folder = shutil.copytree(attended_run, tmp_path_factory.mktemp("private") / "minilm-ewt")
    record = read_record(folder / "run.json")
    dropped = (Lost("report", "sentence", "too long", 1, ("antidisestablishmentarianism",)),)
    values = json.loads(record.text) | {"command": "headscope -q run /home/me/my.toml --out /home/me/runs --overwrite"}
    values["dropped"] = [vars(one) for one in dropped]
    (folder / "run.json").write_text(json.dumps(values), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def out(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("published") / "minilm-ewt"
    publish(run_folder, target, page=True)
    return target


def test_a_published_run_is_a_short_page_settings_and_the_tables_that_people_read(out: Path) -> None:
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert files == {
        *("report.md", "index.html", "config.toml", "run.json", "scores.parquet"),
        "figures/heads-beside-baselines.svg",
    }
    assert "](figures/heads-beside-baselines.svg)" in (out / "report.md").read_text(encoding="utf-8")


def test_no_sentence_of_the_corpus_and_no_place_of_the_machine_is_published(out: Path) -> None:
    parts = [part for text in TEXTS for part in (text, " ".join(text.split()[:4]), text.replace(" ", '", "'))]
    for path in (path for path in out.rglob("*") if path.is_file()):
        held = path.read_bytes().decode("utf-8", errors="replace")
        for part in (*parts, "antidisestablishmentarianism", "/home/me"):
            assert part not in held, path.name
    assert read_record(out / "run.json").command == "headscope run my.toml"
    assert "headscope run my.toml" in (out / "report.md").read_text(encoding="utf-8")


def test_files_are_small(out: Path) -> None:
    sizes = {path.name: path.stat().st_size for path in out.rglob("*") if path.is_file()}
    assert sizes.pop("index.html") < 1_000_000
    assert sizes["heads-beside-baselines.svg"] < 100_000
    assert sum(sizes.values()) < 400_000


def test_scores_have_all_numbers_of_selected_and_graded_heads_and_the_accuracy_of_the_others(
    out: Path, run_folder: Path
) -> None:
    found, scores = pd.read_parquet(out / "scores.parquet"), Run.open(run_folder).scores
    own = scores[scores["split"] == "report"].reset_index(drop=True)
    assert len(found) == len(own)
    np.testing.assert_allclose(found["accuracy"], own["accuracy"], rtol=1e-6)
    named = found["selected"] | (found["grade"] > 0)
    assert 0 < named.sum() < len(found) / 5
    np.testing.assert_allclose(found["margin_low"][named], own["margin_low"][named], rtol=1e-6)
    assert found["margin_low"][~named].isna().all()


def test_paths_lose_their_folders_and_nothing_else_changes() -> None:
    assert placeless("run /a/b/c.toml 'x/y' https://a.org/b/c file:///a/b/d.txt ./d/e and/or") == (
        "run c.toml 'x/y' https://a.org/b/c d.txt ./d/e and/or"
    )


def test_a_table_loses_folders_in_every_column_of_texts_and_keeps_what_else_it_holds() -> None:
    frame = pd.DataFrame({"selected_on": ["/home/me/my.conllu", "ewt"], "heads": [("1-2", "3-4"), ()], "n": [1, 2]})
    assert placeless_texts(frame).to_dict("list") == {
        **{"selected_on": ["my.conllu", "ewt"], "heads": [("1-2", "3-4"), ()], "n": [1, 2]}
    }


def test_what_else_lies_there_stays_but_old_figures_go(run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    for name in ("figures/old.png", "notes.md"):
        (tmp_path / name).write_text("older", encoding="utf-8")
    publish(run_folder, tmp_path)
    assert (tmp_path / "notes.md").exists()
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["heads-beside-baselines.svg"]
    assert not (tmp_path / "index.html").exists()
    with pytest.raises(PublishingError, match="the folder itself"):
        publish(run_folder, run_folder)


@pytest.mark.parametrize("name", ["findings", "sandbox"])
def test_a_published_record_makes_its_page_again(name: str, tmp_path: Path) -> None:
    folder = ROOT / "reports" / "published" / name
    publish(folder, tmp_path)
    assert kind_of(folder).mark == f"{name}.json"
    assert max(len(pd.read_parquet(path)) for path in tmp_path.glob("*.parquet")) > 20
    facts = [json.loads((one / f"{name}.json").read_text("utf-8")) for one in (folder, tmp_path)]
    assert facts[0] == facts[1]
    assert (tmp_path / "report.md").read_text("utf-8") == (folder / "report.md").read_text("utf-8")


def test_the_folder_of_one_claim_is_refused_with_the_folder_that_has_the_page(tmp_path: Path) -> None:
    one = tmp_path / "averaging"
    one.mkdir()
    (one / "claim.json").write_text("{}", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=rf"{one}: no page .* this is one claim, take {tmp_path}$"):
        kind_of(one)


def test_claims_are_published_as_tables_of_all_of_them_beside_their_records(tmp_path: Path) -> None:
    folder, target = tmp_path / "claims", tmp_path / "out"
    for record in RECORDS:
        (folder / record["name"]).mkdir(parents=True)
        (folder / record["name"] / "claim.json").write_text(json.dumps(record), encoding="utf-8")
    publish(folder, target)
    counts = pd.read_parquet(target / "statements.parquet")["claim"].value_counts().to_dict()
    assert counts == {one["name"]: len(one["statements"]) for one in RECORDS}
    rows = sum(len(measure["rows"]) for one in RECORDS for measure in one["measures"])
    assert len(pd.read_parquet(target / "measures-rows.parquet")) == rows
    assert json.loads((target / RECORDS[0]["name"] / "claim.json").read_text("utf-8")) == RECORDS[0]

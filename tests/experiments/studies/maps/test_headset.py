"""Heads as a set, from a config to the tables and the page of a run."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.config.config import ConfigError
from experiments.run.config import load_config
from experiments.run.run import run
from experiments.studies.maps.ensembles import choose_relations
from mha import load_model
from probes import Document, get_probe
from probes.corpora.corpus import Texts
from probes.scoring.aligned import sample_texts
from probes.weights.subspaces import head_weights, subspace_overlap
from reports import Run
from reports.studies.headset.tables import HEADSET_TABLES

pytestmark = pytest.mark.slow

ON = ("heads={texts=12, groups=3, permutations=99, relations=3, largest=3}", 'probes.names=["dependency", "position"]')
MANY = ("corpus.select.documents=40", "corpus.report.documents=40")


@pytest.fixture(scope="module")
def together(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of the tiny model that looks at heads as a set, with its page; not to be changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADSCOPE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        return run(load_config(base, (*ON, *MANY)), tmp_path_factory.mktemp("together"))


def test_a_run_writes_every_table_and_tells_what_was_compared(together: Path) -> None:
    found = Run.open(together)
    assert set(found.studies) >= set(HEADSET_TABLES)
    assert (len(found.studies["distances"]), len(found.studies["places"])) == (6, 4)
    assert len(found.studies["subspaces"]) == 6 * 3 * 2, (
        "W_V, W_O and outputs, own and with randomly initialised weights"
    )
    assert (found.record.heads.texts, found.record.heads.left_out) == (7, 5), "of 12; 5 are too long"
    assert found.studies["distances"].distance.between(0, np.log(2)).all()
    assert sorted(found.studies["places"].group.unique()) == [1, 2, 3], "as many as the config says"
    contrasts = found.studies["contrasts"]
    assert contrasts[["what", "weights"]].to_numpy().tolist() == [
        [what, weights] for weights in ("own", "random") for what in ("maps", "W_V", "W_O", "outputs")
    ]
    assert (contrasts.pairs_within == 2).all()
    assert (contrasts.pairs_between == 4).all()


def test_subspaces_are_those_of_the_model_s_weights(together: Path, tiny: Path) -> None:
    table = Run.open(together).studies["subspaces"]
    for weights, source in (("own", "pretrained"), ("random", "random")):
        spans = head_weights(load_model(str(tiny), source, 0))
        for what in ("W_V", "W_O"):
            rows = table[(table.what == what) & (table.weights == weights)]
            overlap, nearest = subspace_overlap(spans[what])
            np.testing.assert_allclose(rows.overlap, overlap[np.triu_indices(4, 1)])
            np.testing.assert_allclose(rows.nearest, nearest[np.triu_indices(4, 1)])


def test_the_nearest_head_is_the_one_at_the_smallest_distance(together: Path) -> None:
    tables = Run.open(together).studies
    for row in tables["places"].itertuples():
        pairs = tables["distances"]
        pairs = pairs[(pairs.name == row.name) | (pairs.other == row.name)]
        least = pairs.loc[pairs.distance.idxmin()]
        assert row.nearest == (least.other if least["name"] == row.name else least["name"])
        assert row.distance == least.distance


def test_the_single_head_of_an_ensemble_has_the_numbers_of_the_scores(together: Path) -> None:
    same_single_heads(Run.open(together))


@pytest.mark.parametrize("maps", ["norms", "rollout"])
def test_heads_are_compared_and_put_together_by_the_maps_that_the_run_reads(
    maps: str, together: Path, scored: Callable[..., Run]
) -> None:
    found, plain = scored(*ON, *MANY, f"scoring.maps={maps!r}"), Run.open(together)
    same_single_heads(found)
    for name, what in (("distances", "distance"), ("places", "distance")):
        assert found.studies[name][what].between(0, np.log(2)).all()
        assert (found.studies[name][what] - plain.studies[name][what]).abs().max() > 1e-3
    contrasts = [run.studies["contrasts"].set_index(["what", "weights"])["between"] for run in (found, plain)]
    assert abs(contrasts[0]["maps", "random"] - contrasts[1]["maps", "random"]) > 1e-6, "fresh weights are read alike"


def same_single_heads(found: Run) -> None:
    """Assert that ensembles of one head have the scores of that head."""
    ensembles = found.studies["ensembles"]
    assert ensembles.groupby(["probe", "label", "variant"])["size"].apply(list).tolist() == [[1, 2, 3]] * 3
    assert set(ensembles.probe) == {"dependency"}, "positions need no relation"
    key = ["probe", "label", "variant"]
    chosen = found.scores[found.scores.selected & (found.scores.split == "report")].set_index(key)
    for row in ensembles[ensembles["size"] == 1].itertuples():
        scored = chosen.loc[(row.probe, row.label, row.variant)]
        assert (row.heads, row.n, row.clusters, row.baseline) == (
            scored["name"],
            scored.n,
            scored.clusters,
            scored.baseline,
        )
        told = [row.accuracy, row.ci_low, row.ci_high, row.margin, row.margin_low, row.margin_high]
        expected = scored[["accuracy", "ci_low", "ci_high", "margin", "margin_low", "margin_high"]]
        np.testing.assert_allclose(told, expected.to_numpy(float), atol=1e-6)
        assert (row.gain, row.gain_low, row.gain_high) == (0, 0, 0)


def test_the_size_that_is_best_on_the_selection_split_is_the_chosen_one(together: Path) -> None:
    for _, rows in Run.open(together).studies["ensembles"].groupby(["probe", "label", "variant"]):
        assert rows.selected.tolist() == (np.arange(3) == rows.select_accuracy.argmax()).tolist()
        heads = [names.split() for names in rows.heads]
        assert [len(set(names)) for names in heads] == [1, 2, 3]
        assert heads[2][:2] == heads[1]


def test_the_page_tells_it_in_both_forms_with_its_figures(together: Path) -> None:
    page = (together / "report" / "index.html").read_text("utf-8")
    text = (together / "report" / "report.md").read_text("utf-8")
    for part in (page, text):
        assert "Relations between heads" in part
        assert "were compared on 7 texts of the report split" in part
        assert "mean squared cosine of the principal angles" in part
        assert "of 3 labels the mean map of the selected heads is better" in part
    for figure in ("heads-together", "ensembles"):
        assert f"figures/{figure}.png" in text
        assert (together / "report" / "figures" / f"{figure}.pdf").is_file()


def test_the_same_config_gives_the_same_tables(
    together: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.run.run.write_report", lambda folder, step: folder)
    again = Run.open(run(load_config(base, (*ON, *MANY)), tmp_path))
    for name, table in Run.open(together).studies.items():
        pd.testing.assert_frame_equal(again.studies[name], table, check_exact=True)


def test_what_is_switched_off_is_not_there(scored: Callable[..., Run]) -> None:
    assert not set(scored().studies) & set(HEADSET_TABLES)
    compared = scored("heads={texts=5, relations=0}", 'probes.names=["position"]')
    assert set(compared.studies) & set(HEADSET_TABLES) == set(HEADSET_TABLES) - {"ensembles"}
    assert scored().record.heads is None


def test_a_sample_without_a_text_that_can_be_read_is_noted(
    scored: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.studies.maps.headset.sample_texts", lambda texts, count, words: [])
    found = scored("heads={texts=6, relations=0}", 'probes.names=["position"]')
    assert not set(found.studies) & set(HEADSET_TABLES)
    assert "heads are not compared as a set: no text of the sample can be read whole" in found.record.notes


def test_ensembles_are_chosen_on_no_more_texts_and_words_than_asked(
    scored: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []

    def sample(texts: Texts, count: int, words: int) -> list[Document]:
        asked.append((count, words))
        return sample_texts(texts, count, words)

    monkeypatch.setattr("experiments.studies.maps.ensembles.sample_texts", sample)
    scored(
        "heads={texts=0, relations=1, choice_texts=70, words=800}",
        'probes.names=["dependency"]',
        *MANY,
    )
    assert asked == [(70, 800)]


def test_heads_are_compared_on_no_more_words_than_asked(scored: Callable[..., Run]) -> None:
    few = scored("heads={texts=12, relations=0, words=20}", 'probes.names=["position"]', *MANY).record.heads
    assert 0 < few.words <= 20
    assert few.texts + few.left_out < 12


def relation_rows(**changes: dict[str, object]) -> pd.DataFrame:
    """Return scores of chosen heads: a label and variant a row and split, with `changes` by label."""
    rows = []
    for label, variant, n, margin in (
        ("det", "a", 90, 0.1),
        ("det", "b", 90, 0.2),
        ("obj", "a", 200, 0.0),
        ("cc", "a", 49, 0.9),
        ("obj:*", "a", 300, 0.9),
    ):
        for split in ("select", "report"):
            row = {"probe": "dependency", "label": label, "variant": variant, "split": split, "n": n, "margin": margin}
            row |= {"selected": True, "baseline": f"offset of {split}", "layer": 1, "head": 0}
            rows.append(row | changes.get(label, {}))
    return pd.DataFrame(rows)


def test_relations_are_the_labels_with_most_items_each_in_its_best_variant() -> None:
    probes = [get_probe("dependency")]
    found = choose_relations(relation_rows(), probes, 5, 12)
    assert [one.question for one in found] == [("dependency", "a", "obj"), ("dependency", "b", "det")]
    assert {(one.first, one.baseline) for one in found} == {(12, "offset of report")}
    assert [one.question[2] for one in choose_relations(relation_rows(), probes, 1, 12)] == ["obj"]
    assert choose_relations(relation_rows(obj={"baseline": ""}, det={"probe": "position"}), probes, 5, 12) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("heads.texts=-1", "heads.texts: Input should be greater than or equal to 0"),
        ("heads.largest=1", "heads.largest: Input should be greater than or equal to 2"),
        ("heads.relation=3", "unknown key 'heads.relation'; did you mean 'relations'"),
    ],
)
def test_faults_in_the_table_are_told_in_one_line(base: Path, change: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(base, (change,))
    assert complaint in str(caught.value)


def test_a_stage_says_what_it_took(together: Path) -> None:
    stages = json.loads((together / "run.json").read_text("utf-8"))["stages"]
    assert {"relations between heads", "ensembles"} <= set(stages)

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr

from mha import MaskedLM, record
from mha.models.circuits import layers_of
from mha.pieces import Pieces
from probes.causal.attention_vs_effect import (
    ATTENDS,
    BOTH,
    EFFECT,
    NEITHER,
    UNKNOWN,
    Role,
    attention_vs_effect,
    rank_correlations,
    task_roles,
    write_norms,
)
from probes.causal.behaviours import Embedding, Prompt

ROLE = Role("agreement", "all", ("grammar", "nowhere"))
PLACES = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]


def scores() -> pd.DataFrame:
    """Head 0-0 is specialised in another label of the variant, 0-1 in the label itself; 2-0 was not tested."""
    rows = []
    for number, (layer, head) in enumerate(PLACES):
        for label in ("all", "attractors=1"):
            for variant in ("subject->verb", "verb->subject"):
                found = variant == "verb->subject" and (number, label) in ((0, "attractors=1"), (1, "all"))
                rows.append(
                    {
                        **{"probe": "agreement", "label": label, "variant": variant, "split": "report"},
                        **{"layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}", "n": 40},
                        **{"accuracy": 0.1 * number, "mass": 0.5, "margin": 0.0, "grade": found},
                        "p_adjusted": np.nan if number == 4 else 0.2,
                    }
                )
    other = [{**row, "accuracy": 9.0, "split": "select"} for row in rows]
    return pd.DataFrame(rows + other)


def costs() -> pd.DataFrame:
    """Heads 0-0 and 1-0 cost; without 1-1 the model is surely better, which is not mattering."""
    frame = pd.DataFrame(PLACES, columns=["layer", "head"])
    cost, p = [0.3, 0.1, 0.2, -0.4, 0.0], [0.01, 0.3, 0.04, 0.01, 0.02]
    return frame.assign(cost=cost, cost_low=0.0, cost_high=1.0, p_adjusted=p)


def test_labels_of_ones_own_are_compared_with_the_named_roles_else_with_the_largest_label_of_each_probe() -> None:
    own = ("labels of reviews",)
    most = scores().assign(n=lambda rows: np.where(rows["label"] == "attractors=1", 50, 40))
    assert task_roles(most, (), own) == [Role("agreement", "attractors=1", own)]
    assert task_roles(most, ("agreement: all", "position"), own) == [Role("agreement", "all", own, any_label=False)]
    assert task_roles(most, ("agreement",), own) == task_roles(most, (), own)


def test_each_head_gets_the_verdict_of_what_it_looks_at_and_what_it_costs() -> None:
    found = attention_vs_effect(scores(), {"grammar": costs()}, {}, roles=[ROLE], alpha=0.05)
    assert set(found.behaviour) == {"grammar"}
    for variant, expected in {
        "verb->subject": [BOTH, ATTENDS, EFFECT, NEITHER, UNKNOWN],
        "subject->verb": [EFFECT, NEITHER, EFFECT, NEITHER, UNKNOWN],
    }.items():
        rows = found[found.variant == variant]
        assert rows.name.tolist() == ["1-1", "1-2", "2-1", "2-2", "3-1"]
        assert rows.verdict.tolist() == expected
        np.testing.assert_allclose(rows.accuracy, [0.0, 0.1, 0.2, 0.3, 0.4])
    stricter = attention_vs_effect(scores(), {"grammar": costs()}, {}, roles=[ROLE], alpha=0.005)
    assert stricter[stricter.variant == "verb->subject"].verdict.tolist()[:3] == [ATTENDS, ATTENDS, NEITHER]


def test_what_heads_transfer_stands_beside_what_they_cost() -> None:
    places = pd.MultiIndex.from_tuples(PLACES[:4])
    numbers = {"transfer": [2.0, 0.1, 0, 1], "transfer_low": [1.0, -1, 0, 0.5], "transfer_high": [3.0, 1, 0, 2]}
    measured = {name: pd.Series(values, index=places) for name, values in numbers.items()}
    measured["transfer_significant"] = pd.Series([True, False, False, True], index=places)
    found = attention_vs_effect(scores(), {"grammar": costs()}, {"grammar": measured}, roles=[ROLE])
    rows = found[found.variant == "verb->subject"]
    for name, values in numbers.items():
        np.testing.assert_array_equal(rows[name], [*values, np.nan])
    assert rows.transfer_significant.tolist() == [True, False, False, True, False]
    together = rank_correlations(found, replicates=20, seed=1)
    assert "transfer" in set(together["one"])


def test_correlations_are_those_of_scipy_and_their_intervals_hold_them() -> None:
    draws = np.random.default_rng(0)
    accuracy = draws.random(60).round(1)  # with ties
    about = {"behaviour": "grammar", "probe": "agreement", "label": "all", "variant": "v"}
    heads = pd.DataFrame({"accuracy": accuracy, "cost": accuracy + draws.normal(0, 0.3, 60), "mass": 0.5})
    heads = heads.assign(**about, write_norm=np.nan, importance=-accuracy, patching=np.nan, transfer=np.nan)
    found = rank_correlations(heads, replicates=400, seed=1).set_index(["one", "other"])
    assert sorted(found.index) == [("accuracy", "cost"), ("accuracy", "importance"), ("importance", "cost")]
    row = found.loc[("accuracy", "cost")]
    assert row.rho == pytest.approx(spearmanr(heads.accuracy, heads.cost).statistic)
    assert row.low < row.rho < row.high
    assert 0.1 < row.high - row.low < 0.8
    assert row.heads == 60
    assert found.loc[("accuracy", "importance")].rho == pytest.approx(-1)
    again = rank_correlations(heads, replicates=400, seed=1).set_index(["one", "other"])
    pd.testing.assert_frame_equal(found, again)


def test_write_norms_are_means_over_pieces_that_are_no_padding(lm: MaskedLM) -> None:
    encoder, texts = lm.module, [np.array(ids, np.int32) for ids in ([4, 6, 7, 5, 9], [8, 4])]
    asked = [Prompt(Pieces(ids, np.arange(len(ids), dtype=np.int32), len(ids)), i) for i, ids in enumerate(texts)]
    behaviour = Embedding("embedding", "cosine", lm.model, asked, ("a", "b"))
    assert len(behaviour.batches(512)) == 1, "the short text is padded"
    lengths = []
    for ids in texts:  # each alone, [layer, head, piece]
        with torch.no_grad(), record(encoder, ["head_output"]) as kept:
            encoder(torch.from_numpy(ids[None].astype(np.int64)))
        written = zip(kept["head_output"], layers_of(encoder), strict=True)
        one = [torch.einsum("hqd,hdm->hqm", out[0], layer.attention.W_O).norm(dim=-1) for out, layer in written]
        lengths.append(torch.stack(one))
    found = write_norms(behaviour)
    assert found.index.tolist() == [(layer, head) for layer in range(3) for head in range(3)]
    assert found.tolist() == pytest.approx(torch.cat(lengths, 2).mean(2).flatten().tolist(), abs=1e-5)

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.heads.flow import COLUMNS, MOST_PIECES, FlowError, agreement, flow_table, print_flow, write_flow
from mha import align, load_model


def test_the_table_has_a_row_a_layer_and_pair_and_counts_what_is_left_out(tiny: Path) -> None:
    model = load_model(str(tiny))
    words = {"a": ["the", "dog", "sleeps"], "long": ["the"] * MOST_PIECES, "none": []}
    pieces = align(model.tokenizer, [*words.values()])
    table, dropped = flow_table(model, [*zip(words, words.values(), pieces, strict=True)])
    assert list(table.columns) == list(COLUMNS)
    assert len(table) == model.layers * 9
    assert dropped.counts == {
        "longer than 32 pieces": 1,
        "no words, or one that the tokenizer turns into nothing": 1,
    }
    first = table[(table["layer"] == 0) & (table["query"] == 2)]
    assert first["key_word"].tolist() == ["the", "dog", "sleeps"]
    np.testing.assert_allclose(first["flow"], first["rollout"], atol=1e-6)


def test_agreement_is_the_mean_of_rank_correlations_over_texts() -> None:
    def rows(text: str, flow: list[float]) -> pd.DataFrame:
        numbers = {"weights": [1.0, 2.0, 3.0, 4.0], "rollout": [4.0, 3.0, 2.0, 1.0], "flow": flow}
        return pd.DataFrame({"text": text, "layer": 0, **numbers})

    table = pd.concat([rows("a", [1.0, 2.0, 3.0, 4.0]), rows("b", [1.0, 2.0, 4.0, 3.0])])
    found = agreement(table).iloc[0]
    assert found["weights"] == pytest.approx((1 + 0.8) / 2)
    assert found["rollout"] == pytest.approx(-(1 + 0.8) / 2)


@pytest.mark.slow
def test_a_sentence_or_a_corpus_is_written_and_nothing_else(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "flow.csv"
    table, dropped = write_flow(str(tiny), out, text="the dog sleeps")
    pd.testing.assert_frame_equal(pd.read_csv(out), table, check_dtype=False)
    assert (table["text"].unique().tolist(), dropped.counts) == (["your sentence"], {})
    write_flow(str(tiny), out, corpus="grammar", first=3)
    assert pd.read_csv(out)["text"].nunique() == 3
    print_flow(*write_flow(str(tiny), out, text="dog"))
    said = capsys.readouterr().out
    assert "rho with rollout" in said
    assert "nan" not in said, "one word has no pairs to rank"
    for given in ({}, {"text": "a b", "corpus": "grammar"}):
        with pytest.raises(FlowError, match="either a sentence or --corpus"):
            write_flow(str(tiny), out, **given)
    with pytest.raises(FlowError, match="no text to show: 1 left out, longer than 32 pieces"):
        write_flow(str(tiny), out, text="x " * 40)

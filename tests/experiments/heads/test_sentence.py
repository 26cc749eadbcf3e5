"""What heads do on one sentence, and what it loses without them."""

from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.heads.typed_text import TypedError
from headscope import ablate, attention, load
from mha import Ablate, MaskedLM, Model, align, collate, intervene, record

TEXT = "The king saw the dogs ."


def test_maps_are_those_of_the_model_summed_to_words_and_averaged_from_them(model: Model) -> None:
    found = attention(model, TEXT)
    pieces = align(model.tokenizer, [TEXT.split()])[0]
    batch = collate([pieces])
    with torch.inference_mode(), record(model.module, ["pattern"]) as maps:
        model.run(batch.ids, None)
    own = maps["pattern"][1][0, 0].numpy()
    row = found.head("2-1").loc["saw"]
    rows = own[pieces.word == 2].mean(0)
    assert row["[CLS]"] == pytest.approx(rows[0])
    assert row["king"] == pytest.approx(rows[pieces.word == 1].sum())
    assert row["[SEP]"] == pytest.approx(rows[-1])
    np.testing.assert_allclose(found.maps.sum(-1), 1, atol=1e-5)


def test_the_strongest_word_of_each_word_is_named_with_its_share(model: Model) -> None:
    found = attention(model, TEXT)
    table = found.strongest("1-2")
    row = found.head("1-2").iloc[1]
    assert table.rows[1] == ("king", row.idxmax(), f"{100 * row.max():.1f}")
    assert table.frame["weight"].tolist()[1] == row.max()
    assert repr(found) == f"Attention of tiny (2 layers x 2 heads) on {TEXT!r}"


def test_a_map_is_drawn_with_a_cell_a_pair_of_words_in_their_order(model: Model) -> None:
    text = "the king saw the king"
    spec = attention(model, text).plot("1-1").chart.to_dict()
    (cells,) = spec["datasets"].values()
    assert len(cells) == 5 * 7
    assert spec["encoding"]["y"]["sort"] == ["0 the", "1 king", "2 saw", "3 the", "4 king"]
    assert cells[8]["weight"] == pytest.approx(float(attention(model, text).maps[0, 0, 1, 1]))


@pytest.mark.parametrize("how", ["zero", "uniform", "mean"])
def test_a_word_moves_as_far_as_the_cosine_of_its_vectors_says(how: str, model: Model) -> None:
    found = ablate(model, "1-2", TEXT, how)
    pieces = align(model.tokenizer, [TEXT.split()])[0]
    batch = collate([pieces])
    with torch.inference_mode():
        own = model.run(batch.ids, None)[0]
        with intervene(model.module, Ablate(0, 1, how)):
            other = model.run(batch.ids, None)[0]
    of_word = torch.from_numpy(pieces.word == 1)
    expected = 1 - torch.cosine_similarity(own[of_word].mean(0), other[of_word].mean(0), dim=0)
    assert found.frame["moved"][1] == pytest.approx(float(expected), abs=1e-6)
    assert (found.columns, found.frame["known"].isna().all()) == (("word", "moved"), True)


def test_a_pair_is_ablated_as_the_tokenizer_joins_it(model: Model) -> None:
    parts = ("The king saw .", "The dogs .")
    words = " ".join(parts).split()
    found = ablate(model, "1-2", parts)
    pieces = align(model.tokenizer, [words], seconds=[4])[0]
    ids = torch.from_numpy(pieces.ids).long()[None]
    with torch.inference_mode():
        own = model.run(ids, None)[0]
        with intervene(model.module, Ablate(0, 1)):
            other = model.run(ids, None)[0]
    of_word = torch.from_numpy(pieces.word == 5)
    expected = 1 - torch.cosine_similarity(own[of_word].mean(0), other[of_word].mean(0), dim=0)
    assert found.frame["word"].tolist() == words
    assert found.frame["moved"][5] == pytest.approx(float(expected), abs=1e-6)


def test_a_masked_lm_knows_less_by_the_log_probability_that_it_loses(speaker: Path) -> None:
    masked = load(str(speaker))
    found = ablate(masked, ["1-1", "2-2"], TEXT)
    lm, pieces = MaskedLM.of(masked), align(masked.tokenizer, [TEXT.split()])[0]
    place = int(np.flatnonzero(pieces.word == 1)[0])
    ids = torch.from_numpy(pieces.ids).long()[None]
    gold, hidden = int(ids[0, place]), ids.clone()
    hidden[0, place] = lm.mask
    assert (pieces.word == 1).sum() == 1
    own = float(lm.log_probabilities(hidden, None, torch.tensor([place]))[0, gold])
    with intervene(lm.module, Ablate(0, 0), Ablate(1, 1)):
        without = float(lm.log_probabilities(hidden, None, torch.tensor([place]))[0, gold])
    assert found.frame["known"][1] == pytest.approx(own, abs=1e-5)
    assert found.frame["lost"][1] == pytest.approx(own - without, abs=1e-5)
    assert found.columns == ("word", "moved", "known", "lost")


def test_a_file_is_no_sentence_and_each_head_goes_with_no_names(model: Model, tmp_path: Path) -> None:
    rows = tmp_path / "rows.TSV"
    rows.write_text("text\tlabel\nThe king\t0\n", encoding="utf-8")
    with pytest.raises(TypedError, match="a string is a sentence; for the rows of a file give Path"):
        ablate(model, "1-1", str(rows))
    with pytest.raises(TypedError, match='"each" is every head alone; give it, or names of heads'):
        ablate(model, ["each", "1-1"], rows)

"""Deciles in a run."""

from collections.abc import Callable

import numpy as np

from reports import Run

ON = "deciles.enabled=true"


def test_a_run_has_ten_deciles_of_every_head_and_a_description(scored: Callable[..., Run]) -> None:
    run = scored(ON)
    deciles, described = run.studies["deciles"], run.studies["descriptions"]
    assert deciles.groupby("name")["decile"].apply(list).tolist() == [[*range(1, 11)]] * 4
    assert described["name"].tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert described[["accuracy", "offset_accuracy", "random_accuracy", "between"]].gt(0).all(axis=None)
    assert np.allclose(described["gain"], described["accuracy"] - described["offset_accuracy"])
    assert described["description"].str.match("Words attend most to .*[.]").all()


def test_they_are_off_where_nobody_asks(scored: Callable[..., Run]) -> None:
    assert "deciles" not in scored().studies


def test_other_scores_do_not_change(scored: Callable[..., Run]) -> None:
    assert scored(ON).scores.equals(scored().scores)


def test_where_no_attention_in_sentences_is_read_a_note_says_so(scored: Callable[..., Run]) -> None:
    run = scored(ON, "scoring.maps='norms'")
    assert "deciles" not in run.studies
    assert any(note.startswith("deciles: they are of attention in sentences") for note in run.record.notes)


def test_the_number_of_texts_decides_what_the_random_model_reads(scored: Callable[..., Run]) -> None:
    few, all_of = (scored(ON, *more).studies["descriptions"] for more in (("deciles.random_texts=3",), ()))
    assert few["random_accuracy"].iloc[0] != all_of["random_accuracy"].iloc[0]
    assert few["accuracy"].equals(all_of["accuracy"])

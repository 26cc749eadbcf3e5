from collections.abc import Callable
from pathlib import Path

import pytest

from probes.corpora.named import NAMED_RATINGS
from probes.corpora.ratings import Ratings, open_ratings, read_frames, read_ratings

Write = Callable[..., Path]


def test_pairs_are_read_in_any_order_and_case_and_twice_given_ones_have_the_mean(write: Write) -> None:
    ratings = read_ratings(write("sea.txt", "ship\tHarbour\t40.0", "storm sea 8", "", "sea storm 9"))
    assert ratings.name == "sea"
    assert ratings.pairs == {("harbour", "ship"): 40.0, ("sea", "storm"): 8.5}
    assert ratings.of("ship", "harbour") == ratings.of("harbour", "ship") == (("harbour", "ship"), 40.0)
    assert ratings.of("ship", "storm") is None


@pytest.mark.parametrize(
    ("word", "form"),
    [
        *(("Ship", "ship"), ("ships", "ship"), ("berries", "berry"), ("boxes", "box"), ("rowed", "row")),
        *(("dances", "dance"), ("danced", "dance"), ("dancing", "dance"), ("dried", "dry"), ("sank", None), ("", None)),
    ],
)
def test_a_word_is_a_form_of_a_rated_one_in_lower_case_or_without_a_regular_ending(word: str, form: str | None) -> None:
    rated = Ratings("r", {("berry", "box"): 1.0, ("dance", "dry"): 2.0, ("row", "ship"): 3.0})
    assert rated.form(word) == form


def test_every_pair_has_a_sentence_with_its_words_in_the_same_places(write: Write) -> None:
    path = write("sea.txt", "ship\tharbour\t40.0", "ship\tstorm\t30.0", "sea\tstorm\t8")
    documents = list(read_frames(path))
    assert documents[0].words == ("She", "wrote", "about", "the", "ship", "and", "the", "harbour", ".")
    assert [(one.words[4], one.words[7]) for one in documents] == [
        ("ship", "harbour"),
        ("ship", "storm"),
        ("sea", "storm"),
    ]
    assert [one.id for one in documents] == ["ship", "ship", "sea"]
    assert documents[1].sentences[0].id == "sea:2"
    assert documents[1].sentences[0].kind == "sea"
    assert [i for i, tag in enumerate(documents[0].upos) if tag == "NOUN"] == [4, 7]
    assert len(list(read_frames(path, first=2))) == 2


def test_the_named_ratings_are_there(data_folder: Path) -> None:
    sizes = {name: len(open_ratings(name).pairs) for name in NAMED_RATINGS}
    assert sizes == {"men": 3000, "simlex": 998, "simverb": 3499}

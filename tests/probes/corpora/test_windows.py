from hypothesis import given
from hypothesis import strategies as st

from probes.corpora.windows import Cut, cut, windows
from probes.grammar import generate
from probes.records import Document, Mention, Sentence, frozen_ints
from probes.words.antecedent import choices
from probes.words.coreference import anaphors


def document(lengths: list[int]) -> Document:
    """Return sentences in which every word depends on the next one, with mentions of words 0-1 and of the last one."""
    sentences, number = [], 0
    for i, n in enumerate(lengths):
        words = tuple(f"w{number + word}" for word in range(n))
        heads = frozen_ints([*range(1, n), -1])
        mentions = (Mention((0, 1), 1, "pair"), Mention((n - 1,), n - 1, "end")) if n > 1 else ()
        sentences.append(Sentence(f"s{i}", words, heads, (*("dep",) * (n - 1), "root"), mentions=mentions))
        number += n
    return Document("d", tuple(sentences))


LENGTHS = st.lists(st.integers(1, 12), max_size=8)


@given(LENGTHS, st.integers(1, 15))
def test_no_word_is_lost_or_changed(lengths: list[int], most: int):
    whole = document(lengths)
    pieces = list(windows(whole, most))
    assert [word for piece in pieces for word in piece.words] == list(whole.words)
    assert all(piece.id == "d" for piece in pieces)
    assert all(len(piece) == most for piece in pieces[:-1])
    assert len(pieces[-1]) <= most
    assert all(len(sentence) for piece in pieces for sentence in piece.sentences)


@given(LENGTHS, st.integers(1, 15))
def test_what_is_kept_and_what_is_cut_add_up(lengths: list[int], most: int):
    whole, lost = document(lengths), cut(document(lengths), most)
    pieces = list(windows(whole, most))
    assert sum(len(piece.mentions) for piece in pieces) + lost.mentions == len(whole.mentions)
    asked = [len(list(anaphors(text))) for text in (whole, *pieces)]
    assert sum(asked[1:]) + lost.anaphors == asked[0]
    assert lost + lost == Cut(2 * lost.mentions, 2 * lost.anaphors, 2 * lost.pronouns)


def test_a_pronoun_whose_two_candidates_are_in_no_window_with_it_is_counted():
    """Ada met Bo , and she fell ; he ran: a border before "and" takes both candidates of both pronouns away."""
    words = ("Ada", "met", "Bo", ",", "and", "she", "fell", ";", "he", "ran")
    mentions = (Mention((0,), 0, "a"), Mention((2,), 2, "b"), Mention((5,), 5, "a"), Mention((8,), 8, "b"))
    whole = Document("d", (Sentence("s", words, frozen_ints([-1] * 10), ("",) * 10, mentions=mentions),))
    assert [cut(whole, most).pronouns for most in (4, 6, 9, 10)] == [2, 1, 0, 0]


def test_pronouns_that_are_asked_and_those_that_are_counted_add_up():
    lost = 0
    for whole in generate(40, 6):
        asked = sum(len(list(choices(window))) for window in windows(whole, 12))
        assert asked + cut(whole, 12).pronouns == len(list(choices(whole)))
        lost += cut(whole, 12).pronouns
    assert lost > 10


def test_a_word_whose_head_is_cut_off_has_no_head_and_no_relation():
    first, second = windows(document([5]), 3)
    assert first.heads.tolist() == [1, 2, -1]
    assert first.deprels == ("dep", "dep", "")
    assert second.heads.tolist() == [1, -1]
    assert second.deprels == ("dep", "root")


def test_a_discontinuous_mention_across_a_border_is_left_out():
    words = ("a", "b", "c", "d")
    split = Sentence(
        "s", words, frozen_ints([-1, 0, 0, 0]), ("root", *("dep",) * 3), mentions=(Mention((0, 3), 0, "e"),)
    )
    whole = Document("d", (split,))
    assert [len(window.mentions) for window in windows(whole, 2)] == [0, 0]
    assert cut(whole, 2).mentions == 1

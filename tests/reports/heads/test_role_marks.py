"""One choice of letters and colours for the main roles of heads."""

from random import Random

from reports.heads.role_marks import COLOURS, RoleMark, role_marks


def mains(*counted: tuple[str, str, int]) -> list[tuple[str, str]]:
    return [(probe, label) for probe, label, heads in counted for _ in range(heads)]


def test_the_roles_of_most_heads_come_first_whatever_the_order_of_heads():
    heads = mains(("a", "det", 2), ("b", "obj", 3), ("a", "case", 2), ("a", "obj", 1))
    expected = [("b", "obj"), ("a", "case"), ("a", "det"), ("a", "obj")]
    for seed in range(5):
        Random(seed).shuffle(heads)
        found = role_marks(heads)
        assert [*found] == expected
        assert [*found.values()] == [RoleMark("O", 1), RoleMark("C", 2), RoleMark("D", 3), RoleMark("B", 4)]


def test_letters_differ_and_roles_beyond_the_colours_share_that_of_the_rest():
    found = [*role_marks(mains(*(("p", f"label {i}", 60 - i) for i in range(60)))).values()]
    assert [mark.colour for mark in found] == [*range(1, COLOURS + 1), *[0] * (60 - COLOURS)]
    letters = [mark.letter for mark in found]
    assert letters[:5] == ["L", "A", "B", "E", "C"]
    assert len(set(letters[:52])) == 52
    assert set(letters[52:]) == {"•"}


def test_marks_of_the_first_view_do_not_change_with_others():
    first = mains(("p", "det", 1), ("p", "obj", 2))
    more = mains(("q", "same", 9), ("p", "obj", 1))
    assert role_marks(first, more) == role_marks(first) | {("q", "same"): RoleMark("S", 3)}

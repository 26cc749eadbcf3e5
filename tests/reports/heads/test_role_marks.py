"""One choice of letters and colours for the main roles of heads."""

import re
from random import Random

from reports.heads.role_marks import COLOURS, RoleMark, role_marks
from reports.templates.environment import asset


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


def test_no_heads_have_no_marks():
    assert role_marks([]) == {}


def test_every_colour_is_another_and_its_letter_can_be_read():
    def light(colour: str) -> float:
        full = colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:])
        channels = [int(full[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    css = re.findall(r"\.role-(\d) \{ --role: (#\w+); --letter: (#\w+); \}", asset("role_marks.css"))
    assert [int(place) for place, *_ in css] == [*range(COLOURS + 1)]
    assert len({colour for _, colour, _ in css}) == COLOURS + 1
    for _, colour, letter in css:
        low, high = sorted((light(colour), light(letter)))
        assert (high + 0.05) / (low + 0.05) >= 4.5

"""Changes to a valid input: of bytes, of lines, of columns, and of what a format gives a meaning to."""

from __future__ import annotations

from random import Random

from tests.fuzz.seeds import TOKENS

LONGEST = 1 << 14
"Bytes of an input."


def mutated(draws: Random, examples: list[bytes]) -> bytes:
    """Return one of the examples after one to six random changes."""
    given = draws.choice(examples)
    for _ in range(draws.randint(1, 6)):
        given = draws.choice(CHANGES)(draws, given)
    return given[:LONGEST]


def _bit(draws: Random, given: bytes) -> bytes:
    at = draws.randrange(len(given) + 1)
    return given[:at] + bytes([draws.randrange(256)]) + given[at + 1 :]


def _gone(draws: Random, given: bytes) -> bytes:
    at = draws.randrange(len(given) + 1)
    return given[:at] + given[at + draws.randint(1, 20) :]


def _token(draws: Random, given: bytes) -> bytes:
    at = draws.randrange(len(given) + 1)
    return given[:at] + draws.choice(TOKENS) + given[at + draws.choice((0, 0, 1, 4)) :]


def _line(draws: Random, given: bytes) -> bytes:
    lines = given.splitlines(keepends=True) or [b""]
    at, other = draws.randrange(len(lines)), draws.randrange(len(lines))
    kept = draws.choice(([lines[other], lines[at]], [], [lines[at]] * 3, [lines[other]]))
    return b"".join([*lines[:at], *kept, *lines[at + 1 :]])


def _column(draws: Random, given: bytes) -> bytes:
    mark = draws.choice((b"\t", b" ", b",", b'"', b":"))
    parts = given.split(mark)
    at, other = draws.randrange(len(parts)), draws.randrange(len(parts))
    parts[at] = draws.choice((parts[other], b"", draws.choice(TOKENS)))
    return mark.join(parts)


def _copy(draws: Random, given: bytes) -> bytes:
    begin, at = draws.randrange(len(given) + 1), draws.randrange(len(given) + 1)
    return given[:at] + given[begin : begin + draws.randint(1, 200)] * draws.choice((1, 1, 20)) + given[at:]


def _cut(draws: Random, given: bytes) -> bytes:
    return given[: draws.randrange(len(given) + 1)]


CHANGES = (_bit, _gone, _token, _token, _line, _column, _column, _copy, _cut)
"Ways to change an input."

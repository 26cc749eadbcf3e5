from random import Random

import pytest

from tests.fuzz.mutations import mutated
from tests.fuzz.reading import reading
from tests.fuzz.targets import TARGETS, Target

EVERY = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


@EVERY
def test_what_fuzzing_begins_with_is_valid(target: Target) -> None:
    """Else it would be refused at its first line, whatever stands in the others."""
    for example in target.seeds:
        with reading(target) as one:
            one.path.write_bytes(example)
            target.read(one.path)


@EVERY
def test_a_reader_raises_no_error_but_its_own(target: Target) -> None:
    with reading(target) as one:
        draws = Random(0)
        found = [one.fault(mutated(draws, [*target.seeds])) for _ in range(30 if target.slow else 300)]
    assert {fault.what: fault.given[:300] for fault in found if fault is not None} == {}

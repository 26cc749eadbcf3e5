import threading
from collections.abc import Iterator

import pytest

from mha.training.prefetch import Prefetched


def test_items_are_made_in_another_thread_and_not_too_far_ahead() -> None:
    made: list[tuple[int, int]] = []

    def work() -> Iterator[int]:
        for number in range(50):
            made.append((number, threading.get_ident()))
            yield number

    with Prefetched(work(), ahead=3) as items:
        stream = iter(items)
        for number in range(10):
            assert next(stream) == number
            assert len(made) <= number + 1 + 3 + 1
    assert {thread for _, thread in made} != {threading.get_ident()}


def test_an_error_is_raised_where_its_item_is_due() -> None:
    def work() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    with Prefetched(work()) as items:
        stream = iter(items)
        assert next(stream) == 1
        with pytest.raises(OSError, match="the disk is gone"):
            next(stream)


def test_leaving_early_ends_the_thread() -> None:
    before = threading.active_count()
    with Prefetched(iter(int, 1)) as items:
        next(iter(items))
    assert threading.active_count() == before

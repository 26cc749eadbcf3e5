"""Items made ahead in another thread, so that a training step does not wait for its data."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Full, Queue
from types import TracebackType
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Prefetched(Generic[Item]):
    """An iterator whose next items a thread has ready; their order is that of `items`.

    Used as a context, so that the thread ends with the block. An error in `items` is raised where its item is due.
    """

    def __init__(self, items: Iterator[Item], ahead: int = 4) -> None:
        """Make `ahead` items of `items` ready at the most."""
        self._items = items
        self._queue: Queue[tuple[Item | None, BaseException | None]] = Queue(ahead)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Prefetched[Item]:
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the thread."""
        self._stopped.set()
        self._thread.join()

    def __iter__(self) -> Iterator[Item]:
        """Yield the items."""
        while True:
            item, error = self._queue.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item

    def _work(self) -> None:
        try:
            for item in self._items:
                self._put(item, None)
                if self._stopped.is_set():
                    return
            self._put(None, None)
        except BaseException as error:
            self._put(None, error)

    def _put(self, item: Item | None, error: BaseException | None) -> None:
        while not self._stopped.is_set():
            try:
                return self._queue.put((item, error), timeout=0.1)
            except Full:
                continue

"""A child of this process that does one thing, to be killed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def forked(work: Callable[[], object]) -> int:
    """Return the id of a child that does `work` and ends."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)

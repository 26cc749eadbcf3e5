"""Where headscope keeps what it has made once: parsed corpora, tokenizers, converted models."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder of what can be made again: HEADSCOPE_CACHE, or a folder in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("HEADSCOPE_CACHE") or Path(base) / "headscope").expanduser()

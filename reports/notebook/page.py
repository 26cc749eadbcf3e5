"""A page in a notebook: in a frame of its own, with all that it needs."""

from __future__ import annotations

import html
from dataclasses import dataclass


@dataclass(frozen=True, repr=False)
class Page:
    """A page that loads nothing from elsewhere; a notebook shows it."""

    html: str

    def _repr_html_(self) -> str:
        framed = html.escape(self.html)
        return f'<iframe srcdoc="{framed}" style="width: 100%; height: 45em; border: 0"></iframe>'

    def __repr__(self) -> str:
        """Say what it is; the page itself is long."""
        return f"Page of {len(self.html):,} characters: shown in notebooks, and in `html`"

"""Templates: where they lie, how they escape, and how numbers get into a page and pages into files."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

import jinja2
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from reports.formats import escaped, tied

FILES: Final = {
    path.name: path for path in sorted(Path(__file__).parents[1].rglob("*.*")) if path.suffix in (".j2", ".css", ".js")
}
"Templates, style sheets and scripts by name: each lies beside the code that fills it, those of all pages here."

PACKED: Final = 10_000
"Data of a page of more signs are packed."


@cache
def environment(*, html: bool = True) -> jinja2.Environment:
    """Return the template environment; a name that does not exist is an error, and HTML is escaped everywhere."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(sorted({path.parent for path in FILES.values()})),
        autoescape=html,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(embedded=embedded, as_json=as_json, packed=packed, terms=terms, tied=tied, md=escaped)
    made.globals.update(script="", vega="")
    return made


def terms(pairs: Iterable[tuple[str, str]]) -> str:
    """Return terms with their definitions as a list in Markdown."""
    return "\n".join(f"- **{escaped(term)}**: {escaped(definition)}" for term, definition in pairs)


def embedded(value: Any) -> Markup:
    """Return `value` as the data of a page: JSON, or where that is long one string that `whenUnpacked` unpacks."""
    text = as_json(value)
    return text if len(text) <= PACKED else Markup('"{}"').format(packed(text))


def packed(text: str) -> str:
    """Return a text compressed by gzip, its bytes in base 64."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")


def as_json(value: Any) -> Markup:
    """Return `value` as compact JSON that cannot end the script element around it."""
    return htmlsafe_json_dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def asset(name: str) -> Markup:
    """Return a style sheet or script of ours, to be inlined as it is."""
    return Markup(FILES[name].read_text(encoding="utf-8"))


def assets(names: Iterable[str], suffix: str) -> Markup:
    """Return the style sheets (".css") or scripts (".js") of parts of a page, those that there are."""
    return Markup("").join(asset(name + suffix) for name in names if name + suffix in FILES)

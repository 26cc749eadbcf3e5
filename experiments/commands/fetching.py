"""What `headscope fetch` can bring, what it brought, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.commands.listing import Rows
from probes.corpora.line_reader import CorpusError
from probes.corpora.named import data_folder
from probes.download.fetch import NOTE, UNFINISHED, fetch, read_note
from probes.download.sources import Source, source_of, sources
from reports.progress import Progress, silent
from reports.run.lock import LockedError, locked


def fetchable() -> list[str]:
    """Return the names of the corpora that have an address."""
    return [name for name, source in sources().items() if not source.by_hand]


def fetch_all(names: Iterable[str], progress: Progress = silent) -> list[str]:
    """Bring corpora one after another; return a line for each: where it is, and its licence.

    Raises CorpusError, naming the corpus, at the first that cannot be had; those before it stay. Raises it too while
    another process fetches into the same folder.
    """
    chosen = [*names]
    for name in chosen:
        source_of(name)  # a name that is not known is refused before anything is brought
    try:
        with locked(data_folder() / UNFINISHED):
            return [_fetched(name, progress) for name in chosen]
    except LockedError as error:
        raise CorpusError(f"fetch: another process fetches into {data_folder()}; wait until it is done") from error


def _fetched(name: str, progress: Progress) -> str:
    folder = fetch(name, progress)
    source = source_of(name)
    if isinstance(source, Source):
        return f"{name}: {folder} ({source.about.licence}; {source.about.source})"
    noted = read_note(folder)[source.name]
    return f"{source.name}: {folder} ({noted['licence']}; sha256 as first fetched, in {NOTE})"


def source_rows() -> Rows:
    """Return one row a named corpus: whether it is there, its size and licence, and why one is fetched by hand."""
    rows: Rows = [
        {
            "name": name,
            "state": _state(source),
            "size": f"{source.bytes / 1e6:.1f} MB" if source.files else "",
            "licence": source.about.licence,
            "address": source.address,
            "by hand": source.by_hand,
        }
        for name, source in sources().items()
    ]
    treebank = "any treebank of Universal Dependencies by its name and release, such as ud:German-PUD@r2.15"
    return [*rows, {"name": "ud:TREEBANK@RELEASE", "state": treebank, "licence": "as its release states it"}]


def _state(source: Source) -> str:
    if (path := data_folder() / source.about.path).exists():
        return f"there: {path}"
    return "missing, and fetch cannot get it" if source.by_hand else f"missing: headscope fetch {source.name}"

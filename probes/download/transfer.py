"""One file over the network: resumed where it was cut off, no larger than it may be, and never by a lesser protocol."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pooch
import requests

from probes.corpora.line_reader import CorpusError

Step = Callable[[int], None]
"Is told how many bytes of a file have arrived."

TIMEOUT: Final = 30
"Seconds without a byte after which the other side counts as gone."

CHUNK: Final = 1 << 13
RANGE_REFUSED: Final = 416

UNPINNED_LIMIT: Final = 1 << 30
"Bytes of an archive whose size is not known beforehand, at the most."


def fetch_file(url: str, path: Path, sha256: str | None, limit: int, step: Step = lambda done: None) -> None:
    """Bring one file to `path`; what had arrived of it before, in `path` with .part added, is not fetched again.

    A file that is there and right is left. Raises CorpusError where it cannot be had, is larger than `limit` bytes or
    has another hash than `sha256` (of one that was resumed only after it was fetched whole once more); then there is no
    file at `path`. Without `sha256` nothing is checked.
    """
    known = None if sha256 is None else f"sha256:{sha256}"
    pooch.get_logger().setLevel(logging.WARNING)
    fetcher = pooch.create(path.parent, "", registry={path.name: known}, urls={path.name: url}, retry_if_failed=1)
    part = path.with_name(f"{path.name}.part")

    def download(url: str, output: str, _: Any) -> None:
        _resume(url, part, limit, step)
        shutil.move(part, output)

    try:
        fetcher.fetch(path.name, downloader=download)
    except requests.RequestException as error:
        raise CorpusError(f"{url}: {_reason(error)}") from error
    except ValueError as error:
        if isinstance(error, CorpusError):
            raise
        raise CorpusError(f"{url}: not the file that was expected, its sha256 is not {sha256}") from error


def _resume(url: str, part: Path, limit: int, step: Step) -> None:
    """Append to `part` what is lacking of the file at `url`, or start anew where the server gives no parts."""
    had = part.stat().st_size if part.is_file() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={had}-"} if had else {})
    with requests.get(url, stream=True, timeout=TIMEOUT, headers=headers) as response:
        _same_protocol(url, response)
        if response.status_code == RANGE_REFUSED:
            part.unlink()
            raise requests.ConnectionError("what had arrived before is longer than the file")
        response.raise_for_status()
        resumed = response.status_code == requests.codes.partial_content
        done = had if resumed else 0
        with part.open("ab" if resumed else "wb") as file:
            for chunk in response.iter_content(CHUNK):
                done += len(chunk)
                if done > limit:
                    file.truncate(0)
                    raise CorpusError(f"{url}: more than the {limit:,} bytes that were expected")
                file.write(chunk)
                step(done)


def _same_protocol(url: str, response: requests.Response) -> None:
    """Raise CorpusError where https was asked for and a redirect led elsewhere."""
    elsewhere = [one.url for one in (*response.history, response) if not one.url.startswith("https:")]
    if url.startswith("https:") and elsewhere:
        raise CorpusError(f"{url}: redirected to {elsewhere[0]}, which is not https")


def _reason(error: requests.RequestException) -> str:
    """Say in words why a request failed."""
    if error.response is not None:
        return f"the server says {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "cut off; run the same command again, and it goes on where it ended"
    if isinstance(error, requests.Timeout):
        return f"no answer within {TIMEOUT} seconds"
    return "no connection; check the network, or fetch the file elsewhere and copy it under HEADSCOPE_DATA"

"""A corpus arrives whole or not at all, whatever the server does."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from probes.corpora.line_reader import CorpusError
from probes.download import sources as sources_module
from probes.download.fetch import NOTE, UNFINISHED, fetch, read_note
from probes.download.sources import Source
from tests.probes.download.conftest import CONTENT, Server


def lying(data: Path) -> list[str]:
    """Return the files that lie where corpora are looked for."""
    paths = [path.relative_to(data) for path in data.rglob("*") if path.is_file()]
    return sorted(str(path) for path in paths if path.parts[0] != UNFINISHED)


def test_a_corpus_arrives_with_a_note_of_its_licence_and_hashes(made: Source, data: Path) -> None:
    told: list[tuple[str, int, int]] = []
    folder = fetch("made", lambda *step: told.append(step))
    assert folder == data / "made"
    assert {name: (folder / name).read_bytes() for name in CONTENT} == CONTENT
    note = json.loads((folder / NOTE).read_text())["made"]
    assert (note["licence"], note["source"], note["address"]) == ("CC0", "nobody", made.address)
    two = note["files"]["two.txt"]
    assert two == {"bytes": 280000, "sha256": hashlib.sha256(CONTENT["two.txt"]).hexdigest()}
    assert told[-1] == ("made", 300000, 300000)
    assert all(done <= of for _, done, of in told)
    assert not (data / UNFINISHED).exists()


def test_a_file_that_is_lacking_is_added_and_the_note_keeps_the_other(made: Source, server: Server, data: Path) -> None:
    fetch("made")
    asked = len(server.asked)
    fetch("made")
    assert len(server.asked) == asked, "what is there is not fetched again"
    (data / "made" / "one.txt").unlink()
    fetch("made")
    assert (data / "made" / "one.txt").read_bytes() == CONTENT["one.txt"]
    assert set(read_note(data / "made")["made"]["files"]) == set(CONTENT)


def test_another_file_in_its_place_is_left_and_named(made: Source, data: Path) -> None:
    (data / "made").mkdir(parents=True)
    (data / "made" / "one.txt").write_text("mine")
    with pytest.raises(CorpusError, match=r"one\.txt: not the file of .*; move it away"):
        fetch("made")
    assert (data / "made" / "one.txt").read_text() == "mine"


def test_after_two_cuts_nothing_lies_there_and_the_next_call_goes_on(made: Source, server: Server, data: Path) -> None:
    server.cut["/two.txt"] = 2
    with pytest.raises(CorpusError, match=r"two\.txt: cut off; run the same command again"):
        fetch("made")
    assert lying(data) == []
    before = len(server.asked)
    fetch("made")
    assert server.asked[before:] == [("/two.txt", "bytes=204800-")]
    assert lying(data) == [f"made/{NOTE}", "made/one.txt", "made/two.txt"]


@pytest.mark.parametrize("size", [100, 300000])
def test_a_part_that_is_wrong_or_too_long_is_thrown_away(size: int, made: Source, data: Path) -> None:
    part = data / UNFINISHED / "made" / "two.txt.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * size)
    fetch("made")
    assert (data / "made" / "two.txt").read_bytes() == CONTENT["two.txt"]


def test_a_file_with_another_hash_is_refused(made: Source, server: Server, data: Path) -> None:
    server.files["/two.txt"] = b"two\n" * 69999 + b"too\n"
    with pytest.raises(CorpusError, match=r"two\.txt: not the file that was expected, its sha256 is not [0-9a-f]{64}"):
        fetch("made")
    assert lying(data) == []


def test_a_file_without_end_is_stopped(made: Source, server: Server, data: Path) -> None:
    server.files["/two.txt"] = b"x" * 10_000_000
    with pytest.raises(CorpusError, match=r"two\.txt: more than the 280,000 bytes"):
        fetch("made")
    assert lying(data) == []
    assert sum(path.stat().st_size for path in (data / UNFINISHED).rglob("two*")) == 0


def test_a_missing_file_is_named(made: Source, server: Server, data: Path) -> None:
    del server.files["/two.txt"]
    with pytest.raises(CorpusError, match=r"two\.txt: the server says 404 Not Found"):
        fetch("made")
    assert lying(data) == []


def test_a_part_of_a_corpus_stays_where_a_later_file_fails(
    made: Source, server: Server, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is there already, as of a corpus that shares it: still no file of this one appears."""
    (data / "made").mkdir(parents=True)
    (data / "made" / "neighbour.txt").write_text("stays")
    broken = replace(made.files[1], sha256="0" * 64)
    monkeypatch.setattr(sources_module, "sources", lambda: {"made": replace(made, files=(made.files[0], broken))})
    with pytest.raises(CorpusError, match="not the file that was expected"):
        fetch("made")
    assert lying(data) == ["made/neighbour.txt"]

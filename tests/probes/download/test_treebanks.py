"""Treebanks by name: what is taken out of a release, and the hashes that are written down at the first time."""

import tarfile
from pathlib import Path

import pytest

from probes.corpora import named
from probes.corpora.line_reader import CorpusError
from probes.corpora.named import corpus_path
from probes.download import fetch as fetch_module
from probes.download.fetch import NOTE, UNFINISHED, fetch, read_note
from tests.probes.download.conftest import Archive, Server

NAME = "ud:Made_Up-PUD@r2.15"
TREES = b"# sent_id = 1\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n"
RELEASE = {
    "UD_Made_Up-PUD-r2.15/mu_pud-ud-test.conllu": TREES,
    "UD_Made_Up-PUD-r2.15/LICENSE.txt": b"\n=====\nCC BY 4.0\n",
    "UD_Made_Up-PUD-r2.15/eval.log": b"no",
    "UD_Made_Up-PUD-r2.15/not-to-release/raw.conllu": b"no",
}


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch, server: Server) -> str:
    """Return where the release is asked for."""
    monkeypatch.setattr(named, "UD_ARCHIVE", server.address + "/{treebank}/{release}")
    return "/Made_Up-PUD/r2.15"


def test_a_treebank_arrives_with_its_hashes_and_licence(
    path: str, server: Server, archive: Archive, data: Path
) -> None:
    server.files[path] = archive(RELEASE)
    folder = fetch(NAME)
    assert sorted(file.name for file in folder.iterdir()) == [NOTE, "LICENSE.txt", "mu_pud-ud-test.conllu"]
    assert read_note(folder)[NAME]["licence"] == "CC BY 4.0"
    assert corpus_path(f"{NAME}/test") == corpus_path(NAME) == folder / "mu_pud-ud-test.conllu"
    assert corpus_path(NAME).read_bytes() == TREES
    assert not (data / UNFINISHED).exists()
    fetch(NAME)
    assert len(server.asked) == 1


def test_a_release_that_changed_is_refused(path: str, server: Server, archive: Archive, data: Path) -> None:
    server.files[path] = archive(RELEASE)
    file = fetch(NAME) / "mu_pud-ud-test.conllu"
    file.unlink()
    server.files[path] = archive({**RELEASE, "UD_Made_Up-PUD-r2.15/mu_pud-ud-test.conllu": b"other"})
    with pytest.raises(CorpusError, match=r"mu_pud-ud-test\.conllu is not what was fetched before"):
        fetch(NAME)
    assert not file.exists()
    server.files[path] = archive(RELEASE)
    fetch(NAME)
    assert file.read_bytes() == TREES


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def device() -> tarfile.TarInfo:
    member = tarfile.TarInfo("UD/device")
    member.type = tarfile.CHRTYPE
    return member


@pytest.mark.parametrize(
    ("files", "more"),
    [
        ({"../outside.conllu": b"x"}, ()),
        ({"/tmp/outside.conllu": b"x"}, ()),
        ({}, (link("UD/link.conllu", "/etc/passwd"),)),
        ({}, (link("UD/link.conllu", "a.conllu"),)),
        ({}, (link("UD/hard.conllu", "../../secret", tarfile.LNKTYPE),)),
        ({}, (device(),)),
    ],
    ids=["up", "absolute", "link out", "link within", "hard link", "device"],
)
def test_an_unsafe_archive_leaves_nothing(
    files: dict[str, bytes],
    more: tuple[tarfile.TarInfo, ...],
    path: str,
    server: Server,
    archive: Archive,
    data: Path,
    tmp_path: Path,
) -> None:
    server.files[path] = archive({**RELEASE, **files}, *more)
    with pytest.raises(CorpusError, match=r"release\.tar\.gz: "):
        fetch(NAME)
    assert [file for file in tmp_path.rglob("*") if file.is_file() or file.is_symlink()] == []


def test_an_archive_that_grows_without_end_is_refused(
    path: str, server: Server, archive: Archive, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_module, "UNPACKED_LIMIT", 100)
    server.files[path] = archive({**RELEASE, "UD/big.conllu": b"0" * 1000})
    with pytest.raises(CorpusError, match="more than 100 bytes would come out"):
        fetch(NAME)


def test_an_archive_without_trees_or_cut_in_itself_is_refused(
    path: str, server: Server, archive: Archive, data: Path
) -> None:
    server.files[path] = archive({"UD/README.md": b"x"})
    with pytest.raises(CorpusError, match=r"no \.conllu file in the release"):
        fetch(NAME)
    server.files[path] = archive(RELEASE)[:-40]
    with pytest.raises(CorpusError, match=r"not a whole tar\.gz archive"):
        fetch(NAME)
    assert list(data.rglob("*.conllu")) == []


def test_a_release_that_is_damaged_is_fetched_anew_at_the_next_call(
    path: str, server: Server, archive: Archive, data: Path
) -> None:
    """Kept, it would be taken for the file that has arrived, whatever the server sends later."""
    whole = bytearray(archive(RELEASE))
    whole[-8] ^= 0xFF  # the checksum
    server.files[path] = bytes(whole)
    with pytest.raises(CorpusError, match=r"release\.tar\.gz: "):
        fetch(NAME)
    server.files[path] = archive(RELEASE)
    assert (fetch(NAME) / "mu_pud-ud-test.conllu").read_bytes() == TREES


def test_a_file_that_is_not_the_release_s_is_left_and_named(
    path: str, server: Server, archive: Archive, data: Path
) -> None:
    server.files[path] = archive(RELEASE)
    file = data / "ud" / "Made_Up-PUD-r2.15" / "mu_pud-ud-test.conllu"
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    with pytest.raises(CorpusError, match=r"mu_pud-ud-test\.conllu: not the file of .*; move it away"):
        fetch(NAME)
    assert file.read_text() == "mine"

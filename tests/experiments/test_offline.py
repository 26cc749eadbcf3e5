"""Commands ask no network: all sockets are blocked while they run on what is on the disk."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.experiments.test_cli import POSITION

pytestmark = pytest.mark.usefixtures("no_network")


def test_sockets_are_blocked(no_network: type[BaseException]) -> None:
    with pytest.raises(no_network):
        socket.create_connection(("127.0.0.1", 9))


def test_a_run_and_what_is_made_of_it_ask_no_network(
    headscope: Callable[..., Any], base: Path, tiny: Path, tmp_path: Path
) -> None:
    assert headscope("run", base, "--out", tmp_path, *POSITION).code == 0
    folder = tmp_path / "quick"
    for words in (
        ("report", folder),
        ("head", folder, "1-1"),
        ("profile", folder, "--out", tmp_path / "profile.md"),
        ("export", folder, "--to", "csv", "--out", tmp_path / "exported.csv"),
        ("compare", folder, folder, "--match", "--out", tmp_path / "compared"),
        ("match", tiny, tiny, "--sentences", 9),
        ("view", "The dog barks .", "--model", tiny, "--out", tmp_path / "view.html"),
        ("flow", "The dog barks .", "--model", tiny, "--out", tmp_path / "flow.csv"),
        ("list", "models"),
        ("doctor",),
    ):
        said = headscope(*words)
        assert said.code == 0, (words, said.err)


def test_a_name_that_is_no_folder_is_refused_without_asking(
    headscope: Callable[..., Any], base: Path, tmp_path: Path
) -> None:
    said = headscope("run", base, "--out", tmp_path, *POSITION, "--set", "model.name=bert-base-uncased")
    assert said.code == 2
    assert "unknown model 'bert-base-uncased': no such folder" in said.err


def test_a_training_asks_no_network(
    headscope: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start and a data set that are no folders are refused by what to write instead."""
    (tmp_path / "small.toml").write_text(
        'name = "small"\n[train]\nsteps = 2\nrows = 2\nlength = 16\ntokenizer = { size = 200 }\n'
        "encoder = { layers = 1, heads = 2, model = 8 }\ndata = { name = 'grammar', documents = 40 }\n"
        "held_out = { name = 'grammar', documents = 20, seed = 1 }\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("HEADSCOPE_CACHE", str(tmp_path / "cache"))
    words = ("train", tmp_path / "small.toml", "--out", tmp_path / "out")
    assert headscope(*words).code == 0
    said = headscope(*words, "--set", "name=other", "--set", "train.data={dataset='wikitext'}")
    assert (said.code, said.err.splitlines()[-1]) == (
        2,
        "headscope: data set 'wikitext': no such folder; one of the hub is called 'hub:owner/name'",
    )
    start = ("--set", "train.start={name='bert-base-uncased'}", "--set", "train.tokenizer={}")
    said = headscope(*words, "--set", "name=third", *start, "--set", "train.encoder={}")
    assert said.code == 2
    assert "unknown model 'bert-base-uncased': no such folder" in said.err

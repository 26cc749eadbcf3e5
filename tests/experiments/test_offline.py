"""Commands ask no network: all sockets are blocked while they run on what is on the disk."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.experiments.test_cli import COMMANDS, POSITION


class NetworkError(BaseException):
    """A command that wanted the network; no handler of errors hides it."""


@pytest.fixture(autouse=True)
def _blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*address: Any, **more: Any) -> Any:
        raise NetworkError(address)

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "gethostbyname", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)


def test_sockets_are_blocked() -> None:
    with pytest.raises(NetworkError):
        socket.create_connection(("127.0.0.1", 9))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_asks_no_network(command: str, headscope: Callable[..., Any]) -> None:
    assert headscope(command, "--help").code == 0


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
        ("compare", folder, folder, "--out", tmp_path / "compared"),
        ("view", "The dog barks .", "--model", tiny, "--out", tmp_path / "view.html"),
        ("flow", "The dog barks .", "--model", tiny, "--out", tmp_path / "flow.csv"),
        ("list", "models"),
        ("doctor",),
    ):
        said = headscope(*words)
        assert said.code == 0, (words, said.err)


def test_a_name_that_is_no_folder_is_refused_without_asking(mistyped: Callable[[str], str]) -> None:
    assert "unknown model 'bert-base-uncased': no such folder" in mistyped("bert-base-uncased")


@pytest.fixture
def mistyped(headscope: Callable[..., Any], base: Path, tmp_path: Path) -> Callable[[str], str]:
    def mistyped(name: str) -> str:
        said = headscope("run", base, "--out", tmp_path, *POSITION, "--set", f"model.name='{name}'")
        assert said.code == 2
        return str(said.err)

    return mistyped

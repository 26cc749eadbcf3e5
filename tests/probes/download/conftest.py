"""A server on 127.0.0.1 that cuts off, redirects and lies, and a corpus that is fetched from it."""

import hashlib
import io
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from probes.corpora.named import Named
from probes.download import sources as sources_module
from probes.download.sources import Source, SourceFile


@dataclass
class Server:
    """What is served at which path, and what was asked for."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    "Path -> how many times its answer ends half way."
    moved: dict[str, str] = field(default_factory=dict)
    parts: bool = True
    "Whether a part of a file can be asked for."
    asked: list[tuple[str, str]] = field(default_factory=list)
    "Path and range of every request."


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Return the server, without files."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append((self.path, wanted := self.headers.get("Range", "")))
            if target := state.moved.get(self.path):
                self.send_response(302)
                self.send_header("Location", target)
                self.end_headers()
                return
            if self.path not in state.files:
                self.send_error(404)
                return
            self._give(state.files[self.path], wanted)

        def _give(self, content: bytes, wanted: str) -> None:
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and state.parts else 0
            if start > len(content):
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            rest = content[start:]
            if state.cut.get(self.path, 0) > 0:
                state.cut[self.path] -= 1
                rest = rest[: len(rest) // 2]
            self.wfile.write(rest)

        def log_message(self, *anything: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    state.address = f"http://127.0.0.1:{running.server_port}"
    thread = Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    yield state
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of named corpora, which does not exist yet."""
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


CONTENT = {"one.txt": b"one\n" * 5000, "two.txt": b"two\n" * 70000}


@pytest.fixture
def made(server: Server, data: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    """Return a corpus of two files that is called `made` and lies on the server."""
    files = tuple(
        SourceFile(name, f"{server.address}/{name}", len(content), hashlib.sha256(content).hexdigest())
        for name, content in CONTENT.items()
    )
    server.files |= {f"/{name}": content for name, content in CONTENT.items()}
    about = Named("made", "Invented lines", "CC0", "nobody")
    made = Source("made", f"{server.address}/", about, "made", files)
    other = Source("other", "https://example.org/other", about, by_hand="its authors send it")
    monkeypatch.setattr("experiments.commands.fetching.sources", lambda: {"made": made, "other": other})
    monkeypatch.setattr(sources_module, "sources", lambda: {"made": made, "other": other})
    return made


Archive = Callable[..., bytes]


@pytest.fixture
def archive() -> Archive:
    """Return the function that packs names and contents, and members of its own, into a .tar.gz."""

    def archive(files: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
            for member in more:
                tar.addfile(member)
        return packed.getvalue()

    return archive

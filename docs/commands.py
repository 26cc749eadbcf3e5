"""What the README and the documentation show to be typed: found in the pages, and the long ones run from a list.

The tests run every command and program of the pages but those of commands.toml, by what these take: minutes, data,
a network or a cluster.
`make docs-commands` runs these as they are written, from the root of the repository.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import textwrap
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_name("commands.toml")

TYPED = ("headscope", "make", "export", "python")
"First words of what is typed into a shell."

_FENCE = re.compile(r'^```(\w*)(?: title="([^"\n]*)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n\n?)+")
_SPAN = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Block:
    """A block of code of a page."""

    page: str
    language: str
    '"sh", "python", "toml", or another word of a fence.'
    text: str
    title: str = ""
    "The file that the block shows, where it shows one."

    @property
    def commands(self) -> list[str]:
        """The commands of a block of sh, each in one line and without its comment."""
        lines = self.text.replace("\\\n", " ").splitlines() if self.language == "sh" else []
        return [shlex.join(words) for line in lines if (words := shlex.split(line, comments=True))]


def pages() -> list[Path]:
    """Return the README and every page of the documentation that somebody wrote."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, in fences and indented, in their order."""
    text = page.read_text(encoding="utf-8")
    fenced = [(found.start(), Block(page.name, found[1], found[3], found[2] or "")) for found in _FENCE.finditer(text)]
    rest = _FENCE.sub(lambda found: "." * len(found[0]), text)
    indented = [
        (found.start(), _indented(page, textwrap.dedent(found[0]).strip() + "\n")) for found in _INDENTED.finditer(rest)
    ]
    return [block for _, block in sorted(fenced + indented, key=lambda one: one[0])]


def _indented(page: Path, text: str) -> Block:
    first = [line.split()[0] for line in text.splitlines() if line.strip()]
    language = "sh" if {*first} <= {*TYPED} else "python" if first[0] in ("import", "from") else ""
    return Block(page.name, language, text)


def spans(page: Path) -> list[str]:
    """Return the commands that stand in the lines of a page; a mention such as `headscope run` is one of them too."""
    text = _INDENTED.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))
    found = [" ".join(span[1].split()) for span in _SPAN.finditer(text)]
    return [span for span in found if span.startswith(("headscope ", "make ", "python -m "))]


def listed() -> dict[str, str]:
    """Return the commands that the tests do not run, with what each takes: minutes, data, a network or a cluster."""
    found = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return {shlex.join(shlex.split(command)): why for why, commands in found.items() for command in commands}


def main(reasons: list[str]) -> int:
    """Run the listed commands for these reasons, or all but those of a cluster; return 1 if one failed."""
    failed = []
    for why, commands in tomllib.loads(LIST.read_text(encoding="utf-8")).items():
        for command in commands if why in (reasons or ("minutes", "data", "network")) else ():
            print(f"$ {command}", flush=True)
            started = time.monotonic()
            code = subprocess.run(["bash", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL).returncode
            print(f"  exit code {code} after {time.monotonic() - started:.0f} s", flush=True)
            failed += [command] if code else []
    print(*(f"failed: {command}" for command in failed), sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

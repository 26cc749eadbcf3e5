"""What the README and the documentation show to be typed: found in the pages, and the long ones run from a list.

The tests run every command and program of the pages but those of commands.toml, by what these take: minutes, data,
a network or a cluster. `make docs-commands` runs these as they are written, from the root of the repository.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
"What a command takes -> the commands that the tests do not run for it."

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(r'^```(\w*)(?: title="([^"\n]*)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code of a page."""

    page: str
    language: str
    '"sh", "python", "toml", or another word of a fence.'
    title: str
    "The file that the block shows, where it shows one."
    text: str

    @property
    def commands(self) -> list[str]:
        """The commands of a block of sh, each in one line and without its comment."""
        lines = self.text.replace("\\\n", " ").splitlines() if self.language == "sh" else []
        return [shlex.join(words) for line in lines if (words := shlex.split(line, comments=True))]


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page in their order."""
    return [Block(page.name, *found.groups("")) for found in _FENCE.finditer(page.read_text(encoding="utf-8"))]


def spans(page: Path) -> list[str]:
    """Return the commands that stand in the lines of a page; a mention such as `headscope run` is one of them too."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    found = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)]
    return [span for span in found if span.startswith(("headscope ", "make ", "python -m "))]


def main(reasons: list[str]) -> int:
    """Run the listed commands for these reasons, or all but those of a cluster; return 1 if one failed."""
    failed = []
    for command in (command for why in reasons or ("minutes", "data", "network") for command in LIST[why]):
        print(f"$ {command}", flush=True)
        if subprocess.run(["bash", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL).returncode:
            failed.append(command)
    print(*(f"failed: {command}" for command in failed), sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

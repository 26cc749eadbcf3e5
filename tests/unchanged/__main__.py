"""The command: `write` a record, `compare` two, `golden` for what of one is the same on any machine."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tests.unchanged.compare import differences, golden, patterns, unexpected
from tests.unchanged.record import names, write


def _understood() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.unchanged", description="What a change must not change.")
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="write the record of this tree")
    writing.add_argument("folder", type=Path)
    writing.add_argument("--only", nargs="+", choices=names(), default=(), help="these parts alone")
    comparing = commands.add_parser("compare", help="print every difference of two records")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--except", dest="excepted", type=Path, help="a file of patterns of what may differ")
    keeping = commands.add_parser("golden", help="write what of a record is the same on any machine")
    keeping.add_argument("record", type=Path)
    keeping.add_argument("folder", type=Path)
    return parser.parse_args()


def main() -> int:
    """Do what was asked; return 1 where records differ in what no exception lists."""
    asked = _understood()
    if asked.command == "write":
        write(asked.folder, asked.only)
        return 0
    if asked.command == "golden":
        golden(asked.record, asked.folder)
        return 0
    found = unexpected(differences(asked.before, asked.after), patterns(asked.excepted))
    print("\n".join(found) or "no difference")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Records of benchmarks under docs/, and what pages say of them between `<!-- NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any, Final, NoReturn

from experiments.record.provenance import git_commit, processor_name
from experiments.statements.estimates import exact
from mha.foreign import has_bf16_instructions
from mha.messages import OneLineError
from reports.statements.statement import FAILS, HOLDS, OPEN, JudgedStatement, Rule, judged

BLOCK: Final = re.compile(r"(<!-- ([\w ]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
"What a page says of a record: its first mark, name and text."


class BenchError(OneLineError):
    """Something without which a benchmark cannot measure."""


@contextmanager
def exits_with_2() -> Iterator[None]:
    """End with exit code 2, after one line that says why, where the block cannot measure."""
    try:
        yield
    except (OneLineError, CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)


REACHED: Final = {HOLDS: "met", FAILS: "**missed**", OPEN: ""}
"What a table says of the verdict on a goal."


def goal(name: str, value: float | None, *, above: float | None = None, below: float | None = None) -> JudgedStatement:
    """Return the statement that a number lies above or below its goal; None was not measured, and decides nothing."""
    asked = f"below {below:g}" if above is None else f"above {above:g}"
    found = judged(name, "", exact(math.nan if value is None else value), Rule(above, below, unit=""))
    return replace(found, rule=asked)


def goal_table(goals: Iterable[JudgedStatement]) -> list[str]:
    """Return the lines of a table of goals."""
    rows = [f"| {one.text} | {_value(one.estimate.value)} | {one.rule} | {REACHED[one.verdict]} |" for one in goals]
    return ["| | measured | goal | |", "| --- | ---: | ---: | --- |", *rows]


def _value(value: float) -> str:
    if math.isnan(value):
        return "not measured"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def paragraphs(*parts: Iterable[str]) -> str:
    """Return paragraphs and tables, each given as its lines."""
    return "\n\n".join("\n".join(lines) for lines in parts)


def new_record(made_by: str) -> dict[str, Any]:
    """Return the beginning of a record: the command that measures, the commit and the machine."""
    return {
        "made by": made_by,
        "commit": git_commit(),
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "bf16 instructions": has_bf16_instructions(),
    }


def end(
    record: Mapping[str, Any],
    path: Path,
    pages: Iterable[Path],
    blocks: Mapping[str, str],
    goals: Iterable[JudgedStatement],
    *,
    kept: bool,
) -> NoReturn:
    """Print the blocks of a record, write it and its pages where it is kept, and exit with 1 where a goal is missed."""
    print("\n\n".join(blocks.values()))
    if kept:
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        for page in pages:
            page.write_text(with_blocks(page.read_text(encoding="utf-8"), blocks), encoding="utf-8")
    sys.exit(not all(one.verdict == HOLDS for one in goals))


def with_blocks(page: str, blocks: Mapping[str, str]) -> str:
    """Return a page with these texts between their marks, and everything else as it is."""

    def replaced(found: re.Match[str]) -> str:
        return f"{found[1]}{blocks[found[2]]}\n{found[4]}" if found[2] in blocks else found[0]

    return BLOCK.sub(replaced, page)


def blocks_of(page: str) -> dict[str, str]:
    """Return what a page says between its marks, by name."""
    return {found[2]: found[3].removesuffix("\n") for found in BLOCK.finditer(page)}


def machine(record: Mapping[str, Any]) -> str:
    """Name the machine of a record, as in "2 cores of AMD EPYC with bf16 instructions"."""
    has = "with" if record["bf16 instructions"] else "without"
    return f"{record['cores']} cores of {record['processor']} {has} bf16 instructions"

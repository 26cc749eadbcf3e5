"""The tables of docs/hardness.md from the record: `python -m tests.hardness.page` writes the page anew."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tests.hardness.record import read

SURVIVORS = Path(__file__).with_name("survivors.toml")
PAGE = Path(__file__).parents[2] / "docs" / "hardness.md"

ABOUT = """# What was tried to break it

Commands that try to break headscope write what they tried into [hardness.json](hardness.json), with seed, commit and
machine. This page is made from it. `make fuzz` goes on where the record ends, readers with the fewest executions first.
"""


def page(record: dict[str, Any]) -> str:
    """Return the page of a record."""
    parts = [fuzz(record["fuzz"]), faults(record["faults"]), kills(record["kills"]), same(record["same"])]
    parts += [mutants(record["mutants"]), versions(record["versions"])]
    return "\n".join([ABOUT, *parts])


def fuzz(part: dict[str, Any]) -> str:
    """Return the table of the readers."""
    rows = [
        f"| {name} | {one['executions']:,} | {len(one['faults'])} | {len(one['runs'])} |"
        for name, one in sorted(part["readers"].items())
    ]
    head = "Only the documented error, in one line that begins with the file, is no fault; nor may an input hang."
    table = ["| reader | executions | faults | seeds |", "|---|---:|---:|---:|", *rows]
    return "\n".join(["## Readers: `make fuzz`", "", head, "", *table, ""])


def faults(part: dict[str, Any]) -> str:
    """Return the table of what happened from outside."""
    rows = [
        f"| {name} | {one['kept']} | {one['passed']} | {one['skipped']} | {one['failed']} |"
        for name, one in part["faults"].items()
    ]
    head = "Each is made to happen by tests, which `tests/hardness/faults.toml` names."
    table = ["| fault | what is kept | passed | skipped | failed |", "|---|---|---:|---:|---:|", *rows]
    return "\n".join(["## Faults: `make faults`", "", head, "", *table, ""])


def kills(part: dict[str, Any]) -> str:
    """Return the table of what was killed."""
    rows = [f"| {name} | {number} |" for name, number in part["kills"].items()]
    lost = [f"| {name.replace('_', ' ')} | {len(part[name])} |" for name in ("lost", "left_over", "failed")]
    head = "Killed at random moments, then done again: what was lost, hidden files, starts that failed."
    return "\n".join(["## Kills: `make kills`", "", head, "", "| killed | times |", "|---|---:|", *rows, *lost, ""])


def same(part: dict[str, Any]) -> str:
    """Return what came of repeated trainings."""
    hashes = f"{len(part['hashes'])} hash{'es' * (len(part['hashes']) != 1)}"
    said = (
        f"{part['trainings']} trainings of `scratch.toml` over {part['steps']} steps with {part['threads']} threads, "
        f"a process each: {hashes} of the last weights and the optimizer's state."
    )
    return "\n".join(["## Repeated trainings: `make same`", "", said, ""])


def mutants(part: dict[str, Any]) -> str:
    """Return the table of mutants, and those that survived with the reason."""
    areas = part["areas"]
    rows = [
        f"| {area} | {one['mutants']:,} | {one['tried']} | {one['tried'] - len(one['survived'])} |"
        for area, one in areas.items()
    ]
    head = (
        "One thing is changed in a function of a module (operators of mutmut); the tests of the module and of its area "
        "must fail. Drawn at random; annotations, docstrings, decorators and what is raised are left alone. "
        "Some survived at first; those that a test was then written for count as killed."
    )
    table = ["| area | mutants | drawn | killed |", "|---|---:|---:|---:|", *rows]
    reasons = survivors()
    left = [f"- `{name}`: {reasons[name]}" for one in areas.values() for name in one["survived"]]
    listed = ["What survived, and why:", "", *left, ""] if left else []
    return "\n".join(["## Mutants: `make mutants`", "", head, "", *table, "", *listed])


def killed(area: dict[str, Any]) -> float:
    """Return the share of the mutants of an area that its tests noticed."""
    return 1 - len(area["survived"]) / float(area["tried"])


def survivors() -> dict[str, str]:
    """Return the reason why each mutant that survived does."""
    return {one["mutant"]: one["why"] for one in tomllib.loads(SURVIVORS.read_text("utf-8"))["survivor"]}


def versions(part: dict[str, Any]) -> str:
    """Return the table of environments."""
    rows = [
        f"| {name} | {one['torch']} | {one['passed']:,} | {one['skipped']} | {len(one['failed'])} |"
        for name, one in sorted(part["environments"].items())
    ]
    head = "The quick tests in an environment of its own."
    table = ["| environment | torch | passed | skipped | failed |", "|---|---|---:|---:|---:|", *rows]
    return "\n".join(["## Versions: `make versions`", "", head, "", *table, ""])


if __name__ == "__main__":
    PAGE.write_text(page(read()), encoding="utf-8")

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


def section(title: str, head: str, columns: dict[str, str], rows: list[tuple[object, ...]]) -> str:
    """Return a section with one table; `columns` are names and alignments."""
    lines = [columns, columns.values(), *rows]
    table = [f"| {' | '.join(str(cell) for cell in line)} |" for line in lines]
    return "\n".join([f"## {title}", "", head, "", *table, ""])


NUMBER, TEXT = "---:", "---"


def fuzz(part: dict[str, Any]) -> str:
    """Return the table of the readers."""
    return section(
        "Readers: `make fuzz`",
        "Only the documented error, in one line that begins with the file, is no fault; nor may an input hang.",
        {"reader": TEXT, "executions": NUMBER, "faults": NUMBER, "seeds": NUMBER},
        [
            (name, f"{one['executions']:,}", len(one["faults"]), len(one["runs"]))
            for name, one in sorted(part["readers"].items())
        ],
    )


def faults(part: dict[str, Any]) -> str:
    """Return the table of what happened from outside."""
    return section(
        "Faults: `make faults`",
        "Each is made to happen by tests, which `tests/hardness/faults.toml` names.",
        {"fault": TEXT, "what is kept": TEXT, "passed": NUMBER, "skipped": NUMBER, "failed": NUMBER},
        [(name, one["kept"], one["passed"], one["skipped"], one["failed"]) for name, one in part["faults"].items()],
    )


def kills(part: dict[str, Any]) -> str:
    """Return the table of what was killed."""
    return section(
        "Kills: `make kills`",
        "Killed at random moments, then done again: what was lost, hidden files, starts that failed.",
        {"killed": TEXT, "times": NUMBER},
        [
            *part["kills"].items(),
            *((name.replace("_", " "), len(part[name])) for name in ("lost", "left_over", "failed")),
        ],
    )


def same(part: dict[str, Any]) -> str:
    """Return what came of repeated trainings."""
    hashes = f"{len(part['hashes'])} hash{'es' * (len(part['hashes']) != 1)}"
    said = (
        f"{part['trainings']} training runs of `scratch.toml` over {part['steps']} steps with {part['threads']} "
        f"threads, a process each: {hashes} of the last weights and the optimizer's state."
    )
    return "\n".join(["## Repeated training runs: `make same`", "", said, ""])


def mutants(part: dict[str, Any]) -> str:
    """Return the table of mutants, and those that survived with the reason."""
    areas, reasons = part["areas"], survivors()
    table = section(
        "Mutants: `make mutants`",
        "One thing is changed in a function of a module (operators of mutmut); the tests of the module and of its area "
        "must fail. Drawn at random; annotations, docstrings, decorators and what is raised are left alone. Then tests "
        "were written for survivors: the last column counts them, and only the one before it estimates other mutants.",
        {"area": TEXT, "mutants": NUMBER, "drawn": NUMBER, "killed at first": NUMBER, "killed": NUMBER},
        [
            (
                area,
                f"{one['mutants']:,}",
                one["tried"],
                one["tried"] - one["survived_at_first"],
                one["tried"] - len(one["survived"]),
            )
            for area, one in areas.items()
        ],
    )
    left = [f"- `{name}`: {reasons[name]}" for one in areas.values() for name in one["survived"]]
    return "\n".join([table, "What survived, and why:", "", *left, ""]) if left else table


def killed(area: dict[str, Any]) -> float:
    """Return the share of the mutants of an area that its tests noticed, before any was written for a survivor."""
    return 1 - area["survived_at_first"] / float(area["tried"])


def survivors() -> dict[str, str]:
    """Return the reason why each mutant that survived does."""
    return {one["mutant"]: one["why"] for one in tomllib.loads(SURVIVORS.read_text("utf-8"))["survivor"]}


def versions(part: dict[str, Any]) -> str:
    """Return the table of environments."""
    return section(
        "Versions: `make versions`",
        "The quick tests in an environment of its own.",
        {"environment": TEXT, "torch": TEXT, "passed": NUMBER, "skipped": NUMBER, "failed": NUMBER},
        [
            (name, one["torch"], f"{one['passed']:,}", one["skipped"], len(one["failed"]))
            for name, one in sorted(part["environments"].items())
        ],
    )


if __name__ == "__main__":
    PAGE.write_text(page(read()), encoding="utf-8")

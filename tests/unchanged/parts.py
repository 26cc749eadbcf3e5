"""The runs whose pages and tables are kept: each is a list of commands in an empty folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).parents[2]

NOUNS = (
    "actor apple bear bed bird boat book box boy cake car cat chair child clock coat cow dancer doctor dog farmer "
    "friend girl guard horse judge key king lamp lawyer letter nurse pilot poet queen teacher writer"
)
"Words of the grammar that are given invented ratings."


def _nothing(folder: Path) -> None:
    """Need no more than the configs."""


@dataclass(frozen=True)
class Part:
    """One kind of run."""

    name: str
    commands: tuple[tuple[str, ...], ...] = ()
    "What is typed after `headscope`, with the part's folder as the current one; configs are in configs/."
    prepare: Callable[[Path], None] = _nothing
    "Puts into the folder what the commands need."
    tested: bool = False
    "Whether the tests hold it against the golden record; the others are compared by hand when something moves."
    named: bool = False
    "Whether it is done only where it is named: it takes many minutes."


def _ratings(folder: Path) -> None:
    lines = [f"{one} {other} {number * 7 % 11}\n" for number, (one, other) in enumerate(combinations(NOUNS.split(), 2))]
    (folder / "configs" / "made.txt").write_text("".join(lines), encoding="utf-8")


def _fixture(folder: Path) -> None:
    """Write the synthetic run of the tests of pages."""
    from tests.reports.conftest import write_run

    write_run(folder / "minilm-ewt")


def _published(folder: Path) -> None:
    """Copy the records from which the published pages were made."""
    for name in ("sandbox", "findings"):
        (record,) = (ROOT / "reports").rglob(f"published/{name}/{name}.json")
        (folder / name).mkdir()
        shutil.copy(record, folder / name)


def _run(config: str, *changes: str) -> tuple[str, ...]:
    return ("-q", "run", f"configs/{config}.toml", *(word for change in changes for word in ("--set", change)))


SMALL_CORPUS = (
    "corpus={{select={{name='grammar', documents={0}, seed=1}}, report={{name='grammar', documents={0}, seed=2}}}}"
)
TINY_CORPUS = SMALL_CORPUS.format(6)
TEXT = "The keys to the old cabinet are on the table ."

QUICKSTART = (
    *(SMALL_CORPUS.format(8), "controls={random=2, permuted=0}", "scoring.replicates=50"),
    *("probes.trained_pairs=20", "heads.texts=20", "heads.relations=2", "page.examples=2", "page.sentences=2"),
)
"What makes the quickstart take seconds."

PARTS = (
    Part(
        "fixture",
        (
            *(("report", "minilm-ewt"), ("head", "minilm-ewt", "3-5"), ("profile", "minilm-ewt")),
            *(("export", "minilm-ewt", "--to", form) for form in ("latex", "markdown")),
        ),
        _fixture,
        tested=True,
    ),
    Part("published", (("report", "sandbox"), ("report", "findings")), _published),
    Part(
        "pair",
        (_run("pair"), _run("pair", "name='random'", "model.source='random'"), ("compare", "runs/pair", "runs/random")),
    ),
    Part(
        "looks",
        (
            ("-q", "view", TEXT, "A dog barks ."),
            ("-q", "view", TEXT, "--explain", "3-5", "--word", "keys", "--out", "explained.html"),
            ("-q", "flow", "The keys are here .", "--out", "flow.csv"),
            ("-q", "match", "minilm", "minilm", "--sentences", "5", "--out", "match.csv"),
        ),
    ),
    Part("biographies", (_run("biographies"), ("profile", "runs/biographies"), ("head", "runs/biographies", "1-1"))),
    Part(
        "claim",
        (("-q", "claim", "configs/averaging.toml", "--set", "steps=20", "--set", "seeds=[0,1]", "--set", "sets=[1]"),),
        tested=True,
    ),
    Part(
        "reproduce", (("-q", "reproduce", "voita-2019", "--model", "minilm:random", "--set", f"trees.{TINY_CORPUS}"),)
    ),
    Part("quickstart", (_run("quickstart", *QUICKSTART),)),
    Part(
        "everything",
        (_run("everything"), ("profile", "runs/everything"), ("head", "runs/everything", "2-1")),
        _ratings,
    ),
    Part("sandbox", (("-q", "sandbox", "--quick"),), named=True),
)
"The page of the sandbox is made anew by `published`, from the record that is published."


def configs_into(folder: Path) -> None:
    """Copy all configs, ours and those of headscope, into one folder."""
    folder.mkdir(parents=True)
    for config in (*(ROOT / "experiments").rglob("*.toml"), *Path(__file__).parent.glob("configs/*.toml")):
        shutil.copy(config, folder)

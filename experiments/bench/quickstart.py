"""What the quickstart costs: seconds to install and to run it, `make bench-quickstart`.

Installing is `make install` into an empty environment without a cache of packages; running is the command of `make
report`, from its start to its first page and to its end, several times, in turn with the plain pass over sentences of
EWT where those are at hand. All is kept in a record under docs/, and the sentence of README and docs/cost.md and the
goals are written there anew.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from experiments.bench.passes import EWT, read_plainly, sentences, timed
from experiments.bench.records import BenchError, end, exits_with_2, goal, goal_table, machine, new_record, paragraphs
from experiments.run.first_page import first_page_path
from probes import Document
from reports.statements.statement import JudgedStatement

GOAL, FIRST_PAGE, RATIO = 30, 8, 10
"""Seconds from the beginning of the quickstart to its end, and to its first page; and how many plain passes over
SENTENCES of EWT dev it may take."""
SENTENCES = 1000
ROUNDS = 3
"At least so many runs are timed for the record."

RECORD = Path("docs") / "quickstart-cost.json"
PAGES = (Path("README.md"), Path("docs/cost.md"))
"Both have the sentence, the latter the goals as well."


def main() -> None:
    """Measure, print, and write the record and the sentence; exit with 1 where the goal is missed.

    Record and sentence stay as they are where installing is not timed, or less than ROUNDS runs.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"runs to time (default {ROUNDS})")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that the environment is made with")
    parser.add_argument("--no-install", action="store_true", help="do not time installing")
    options = parser.parse_args()
    with exits_with_2():
        record = {
            **new_record("make bench-quickstart"),
            "install seconds": None if options.no_install else _timed_install(options.python),
            **time_runs(options.rounds, texts=_of_ewt()),
        }
    kept = options.rounds >= ROUNDS and not options.no_install
    end(record, RECORD, PAGES, blocks(record), goals(record), kept=kept)


def _timed_install(python: str) -> float:
    """Return the seconds of `make install` into an environment of its own, which is removed again."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PIP_NO_CACHE_DIR": "1"}
        start = time.perf_counter()
        command = ["make", "install", f"VENV={folder}/environment", f"PYTHON={python}"]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        return round(time.perf_counter() - start, 1)


def _of_ewt() -> Sequence[Document]:
    """Return the SENTENCES of EWT dev; none where they are not at hand."""
    name, texts = sentences(SENTENCES)
    return texts if (name, len(texts)) == (EWT, SENTENCES) else ()


def time_runs(rounds: int, changes: Sequence[str] = (), texts: Sequence[Document] = ()) -> dict[str, Any]:
    """Run the quickstart so many times, with changes of its config; return what each took, and stages of the last.

    After each run comes a plain pass over the texts, if there are any.
    """
    seconds, first, cpu, plain, told = [], [], [], [], {}
    read = _plain_pass(texts) if texts else None
    command = [sys.executable, "-c", "from experiments.cli import main; main()", "--quiet", "run", "quickstart"]
    command += [word for change in changes for word in ("--set", change)]
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            before, start = _of_children(), time.perf_counter()
            with subprocess.Popen([*command, "--out", folder], stdout=subprocess.DEVNULL) as running:
                while not first_page_path(Path(folder) / "quickstart").is_file():
                    if running.poll() is not None:
                        raise BenchError(f"{shlex.join(command)} ended without a first page")
                    time.sleep(0.1)
                first.append(round(time.perf_counter() - start, 1))
            if running.returncode:
                raise subprocess.CalledProcessError(running.returncode, command)
            seconds.append(round(time.perf_counter() - start, 1))
            cpu.append(round(_of_children() - before, 1))
            told = json.loads((Path(folder) / "quickstart" / "run.json").read_text(encoding="utf-8"))
        if read is not None:
            plain.append(timed(read, texts))
    times = {"run seconds": seconds, "first page seconds": first, "CPU seconds": cpu, "plain pass seconds": plain}
    return {"threads": told["threads"], **times, "stages of the last": told["stages"]}


def _plain_pass(texts: Sequence[Document]) -> Callable[[Sequence[Document]], None]:
    """Return what reads texts plainly on as many threads as a run has, warmed up."""
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    read = read_plainly()
    read(texts[:50])
    return read


def _of_children() -> float:
    """Return the CPU seconds of finished children."""
    import resource  # which Windows lacks

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def median(record: Mapping[str, Any]) -> float:
    """Return the median seconds of a run."""
    return float(statistics.median(record["run seconds"]))


def sentence(record: Mapping[str, Any]) -> str:
    """Return what README and docs say of a record."""
    runs, installed = len(record["run seconds"]), record["install seconds"]
    of = f"median of {runs} runs" if runs > 1 else "one run"
    first = statistics.median(record["first page seconds"])
    before = "" if installed is None else f"; installing first takes {installed:.0f}"
    return (
        f"On {machine(record)} the quickstart takes {median(record):.0f} seconds ({of}), "
        f"its first page {first:.0f}{before} (`make bench-quickstart`)."
    )


def goals(record: Mapping[str, Any]) -> list[JudgedStatement]:
    """Return the goals of a record; a record without plain passes has no ratio."""
    plain = record.get("plain pass seconds")
    ratio = median(record) / statistics.median(plain) if plain else None
    return [
        goal("seconds of the quickstart", median(record), below=GOAL),
        goal("seconds to its first page", statistics.median(record["first page seconds"]), below=FIRST_PAGE),
        goal(f"the quickstart, over the plain pass over {SENTENCES:,} sentences of {EWT}", ratio, below=RATIO),
    ]


def blocks(record: Mapping[str, Any]) -> dict[str, str]:
    """Return what pages say of a record, by the names of the marks."""
    return {"quickstart cost": sentence(record), "quickstart goals": paragraphs(goal_table(goals(record)))}


if __name__ == "__main__":
    main()

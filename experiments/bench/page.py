"""How soon large pages can be used, and how large they are: `make bench-page`.

A run of 12 layers x 12 heads with 30 sentences of 25 words is invented, and MiniLM reads a text of 512 pieces for
`headscope view`. Both pages are opened from disk in headless Chromium, and a head is chosen by a click: the time ends
when the sentence shows that head. Raw times are kept in a JSON file.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import cycle, islice, product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from experiments.heads.view import write_text_view
from experiments.record.provenance import git_commit
from reports import write_attention, write_examples, write_scores
from reports.page.page import html_page
from reports.page.page_model import gather
from reports.tables.scores import EXAMPLES, SCORES

GOAL, MOST_MEGABYTES = 2.0, 5.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
RELATIONS = tuple(f"relation{number}" for number in range(40))
SENTENCE = "the old man near the door gave his son a book about the war and went home ."
VARIANTS = ("dependent->head", "head->dependent")


@dataclass(frozen=True)
class Click:
    """The last head of a page."""

    head: str
    "What to click, as a selector."
    shown: str
    "Whether the sentence shows it, as an expression of JavaScript."


REPORT = Click(
    "[data-heads] [data-head='12-12']",
    "document.querySelector('[data-attention] .readout').textContent.startsWith('Head 12-12 ')",
)
VIEW = Click(
    ".grid button:last-of-type",
    "document.querySelector('.name').textContent === 'Head 6-12' && document.querySelector('.lines path')",
)


def main() -> None:
    """Print the median of the times and the size; without a browser say so in one line and exit with 2."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--times", type=int, default=5, help="how often the page is opened (default 5)")
    parser.add_argument("--out", type=Path, default=Path("runs/bench_page.json"), help="where raw times are kept")
    options = parser.parse_args()
    record: dict[str, Any] = {"commit": git_commit(), "machine": f"{platform.system()} {platform.machine()}"}
    with tempfile.TemporaryDirectory() as folder:
        report = write_page(write_large_run(Path(folder)))
        view = write_text_view(Path(folder) / "view.html", [long_text()], models=["minilm"])
        for title, page, click in (
            ("page of 144 heads and 30 sentences", report, REPORT),
            ("view of 72 heads on 512 pieces", view, VIEW),
        ):
            try:
                seconds = timed(page, click, options.times)
            except (ImportError, FileNotFoundError) as error:
                print(f"bench: {error}", file=sys.stderr)
                sys.exit(2)
            megabytes = page.stat().st_size / 1e6
            record[title] = {"megabytes": megabytes, "seconds": seconds}
            print(f"{title}: {megabytes:.2f} MB (goal {MOST_MEGABYTES:.0f} MB)")
            print(f"interactive after {median(seconds):.2f} s (median of {len(seconds)}, goal {GOAL:.0f} s)")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"raw times: {options.out}")


def long_text(words: int = 510) -> str:
    """Return a text of so many words, each of one piece, which fills MiniLM with [CLS] and [SEP]."""
    return " ".join(islice(cycle(SENTENCE.split()), words))


def write_large_run(folder: Path, *, layers: int = 12, heads: int = 12, sentences: int = 30, words: int = 25) -> Path:
    """Write a run folder with invented numbers, which say nothing of any model, and return it."""
    rng = np.random.default_rng(3)
    places = list(np.ndindex(layers, heads))
    about = {
        "model": "invented",
        "step": pd.NA,
        "corpus": "invented",
        "maps": "weights",
        "probe": "dependency",
        "layer_attention": "",
    }
    asked = [about | {"label": label, "variant": variant} for label, variant in product(RELATIONS, VARIANTS)]
    scores = pd.concat([_scores(one, places, rng) for one in asked])
    scores = pd.concat([scores.assign(split=split) for split in ("select", "report")], ignore_index=True)
    write_scores(scores[list(SCORES.names)], folder)
    write_examples(pd.DataFrame(columns=list(EXAMPLES.names)), folder)
    write_attention(_tables(places, sentences, words, rng), folder)
    (folder / "run.json").write_text(json.dumps({"name": "invented"}), encoding="utf-8")
    (folder / "config.toml").write_text("", encoding="utf-8")
    return folder


def _scores(about: dict[str, Any], places: list[tuple[int, ...]], rng: np.random.Generator) -> pd.DataFrame:
    """Return the rows of one label and variant; the best head is chosen, heads far above the baseline have a grade."""
    accuracy = rng.beta(2, 3, len(places))
    rows = pd.DataFrame({"layer": [layer for layer, _ in places], "head": [head for _, head in places]})
    numbers: dict[str, Any] = {
        "accuracy": accuracy,
        "ci_low": accuracy * 0.9,
        "ci_high": accuracy,
        "mass": accuracy / 2,
    }
    numbers |= {"mass_low": 0.0, "mass_high": 1.0, "coverage": 0.8, "share": 0.5, "lexical_accuracy": 0.7}
    numbers |= {"baseline_accuracy": 0.5, "margin": accuracy - 0.5, "margin_low": accuracy - 0.6}
    numbers |= {"margin_high": accuracy - 0.4, "lexical_margin_low": -0.3, "lexical_margin_high": 0.1}
    numbers |= {
        "rule": "nearest word of a tag set",
        "rule_accuracy": 0.6,
        "rule_margin_low": -0.2,
        "rule_margin_high": 0.2,
    }
    numbers |= {"p": 0.01, "p_label": 0.01, "p_adjusted": 0.01, "stability": 0.9}
    verdicts: dict[str, Any] = {"selected": accuracy == accuracy.max(), "specialised": accuracy > 0.85}
    verdicts |= {"grade": (accuracy > 0.85).astype(int), "verdict": "yes" if (accuracy > 0.85).any() else "no"}
    verdicts |= {"excluded": 0.04, "effective_clusters": 80.0, "precision": accuracy / 3, "lift": 2.0}
    verdicts |= {"p_words": 0.2, "p_rules": 0.3}
    name = (rows["layer"] + 1).astype("str") + "-" + (rows["head"] + 1).astype("str")
    rest: dict[str, Any] = {"name": name, "n": 500, "clusters": 100, "baseline": "offset", "near_ties": 0}
    return rows.assign(**about, **numbers, **verdicts, **rest)


def _tables(places: list[tuple[int, ...]], sentences: int, words: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the tables of attention: five even keys a word, which is the most that a page can have to hold."""
    texts = [[f"word{number}" for number in rng.integers(0, 1000, words)] for _ in range(sentences)]
    told = [
        {"sentence": i, "source": f"own-{i}", "words": text, "pieces": [[word[:4], f"##{word[4:]}"] for word in text]}
        for i, text in enumerate(texts)
    ]
    pairs = [(query, int(key)) for query, key in enumerate(rng.integers(0, words, words))]
    gold = [
        {"sentence": i, "probe": "dependency", "label": label, "variant": variant, "query": query, "key": key}
        for i, variant in product(range(sentences), VARIANTS)
        for (query, key), label in zip(pairs, RELATIONS, strict=False)
    ]
    attention = [
        {"sentence": i, "layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}"}
        | {"keys": rng.integers(-2, words, 5 * words), "weights": rng.integers(1, 52, 5 * words)}
        for i, (layer, head) in product(range(sentences), places)
    ]
    ends = pd.DataFrame(told).assign(before="[CLS]", after="[SEP]")
    return {"sentences": ends, "gold": pd.DataFrame(gold), "attention": pd.DataFrame(attention)}


def write_page(folder: Path) -> Path:
    """Write the page of a run folder into it, without figures, and return its path."""
    page = folder / "index.html"
    page.write_text(html_page(gather(folder)), encoding="utf-8")
    return page


def timed(page: Path, click: Click, times: int) -> list[float]:
    """Return `time_to_interactive` in a Chromium of its own.

    Raises ImportError without playwright and FileNotFoundError without Chromium.
    """
    from playwright.sync_api import sync_playwright

    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise FileNotFoundError("no chromium on the PATH; install it, for example with apt-get install chromium")
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        seconds = time_to_interactive(opened, page, click, times)
        opened.close()
    return seconds


def time_to_interactive(browser: Any, page: Path, click: Click, times: int) -> list[float]:
    """Return the seconds from asking for a page until a click on a head has it shown, for each of `times`."""
    seconds = []
    for _ in range(times):
        tab = browser.new_page()
        start = time.perf_counter()
        tab.goto(page.resolve().as_uri(), wait_until="commit")
        tab.locator(click.head).click()
        tab.wait_for_function(f"() => {click.shown}")
        seconds.append(time.perf_counter() - start)
        tab.close()
    return seconds


if __name__ == "__main__":
    main()

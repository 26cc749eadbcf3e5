"""A synthetic run of 6 layers x 12 heads whose numbers are invented, for everything that reads run folders."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tomli_w

from experiments.config.config import resolved
from experiments.run.config import RunConfig
from reports import (
    Run,
    read_examples,
    read_scores,
    write_attention,
    write_examples,
    write_report,
    write_scores,
)
from reports.tables.scores import EXAMPLES, SCORES
from tests.reports import head_rows

LAYERS, HEADS = 6, 12
HOSTILE = '<b>&"|</script>`'
"A label that breaks HTML, JSON in a script element and Markdown tables unless each is escaped."

POSITION = {"previous": "other words", "next": "other words", "first": "all words"}
POSITION |= dict.fromkeys(("[CLS]", "[SEP]", "broad"), "all tokens")
RELATIONS = {
    label: (float(baseline), float(lexical), int(n))
    for label, baseline, lexical, n in (
        line.split()
        for line in f"""obj 0.36 0.85 1211,det 0.60 0.78 1817,case 0.38 0.70 2015,nsubj 0.37 0.66 1958
        nsubj:pass 0.31 0.58 214,nmod:poss 0.58 0.81 530,aux 0.48 0.86 702,cop 0.35 0.68 410,xcomp 0.56 0.91 370
        amod 0.75 0.82 1326,compound 0.82 0.88 898,all 0.26 0.55 20102,vocative 0.30 0.40 9,orphan 0.20 0.30 0
        {HOSTILE} 0.30 0.40 120""".replace("\n", ",").split(",")
    )
}
"Relation -> accuracy of the baseline and of the lexical table, and items."

DIRECTIONS = ("dependent->head", "head->dependent", "head<-dependent")
AGREEMENT = {"all": 812, "attractors=0": 701, "attractors=1": 96, "attractors>=2": 15, "distance>=7": 88}
COREFERENCE = {"all": 2638, "pronoun": 1502, "proper": 540, "nominal": 596}

BASELINES = {"position": "uniform", "dependency": "offset", "agreement": "previous word"}
BASELINES |= {"coreference": "nearest mention", "classifier": "control task"}

VERDICTS = {  # the grade of the chosen head, and which others have grade 1
    ("dependency", "obj", "dependent->head"): (1, ("1-1", "1-2", "1-3", "1-4")),
    ("dependency", "det", "dependent->head"): (2, ()),
    ("dependency", "det", "head->dependent"): (0, ("2-2",)),
    ("dependency", "vocative", "head<-dependent"): (1, ()),
    ("agreement", "all", "verb->subject"): (3, ("2-2",)),
    ("coreference", "pronoun", "all words"): (1, ()),
    ("position", "previous", "other words"): (1, ("5-5", "6-6")),
}
"All verdicts of the synthetic run; every other head with a baseline is tested and has none."

TEXTS = (
    "The keys to the old cabinet are on the kitchen table .",
    "Mira gave her brother a book that he had never seen before .",
    "When the two engineers who had built the bridge finally met the mayor , they told her that the river had carried "
    "away the oldest of its three stone piers during the storm .",
)
SENTENCES = [text.split() for text in TEXTS]


def labels() -> list[tuple[str, str, str, float, float, int]]:
    """(probe, label, variant, baseline accuracy, lexical accuracy, n) of everything in the synthetic run."""
    nan, coreference, agreement = (
        float("nan"),
        ("preceding mention heads", "all words"),
        ("verb->subject", "subject->verb"),
    )
    return [
        *(
            ("position", label, variant, nan if label == "broad" else 0.08, nan, 25150)
            for label, variant in POSITION.items()
        ),
        *(("dependency", label, way, *numbers) for label, numbers in RELATIONS.items() for way in DIRECTIONS),
        *(("agreement", label, way, 0.42, 0.61, n) for label, n in AGREEMENT.items() for way in agreement),
        *(("coreference", label, way, 0.62, nan, n) for label, n in COREFERENCE.items() for way in coreference),
        *(("classifier", label, "dependency/dependent->head", 0.52, nan, 400) for label in ("obj", "det", "cop")),
    ]


def score_rows(rng: np.random.Generator) -> pd.DataFrame:
    """Scores of all heads on both splits; a label is easy for one or two heads and hard for the others."""
    frames = []
    for probe, label, variant, baseline, lexical, n in labels():
        skill = rng.beta(2, 9, LAYERS * HEADS) * (0.5 if np.isnan(baseline) else 0.4 + baseline)
        strong = rng.choice(LAYERS * HEADS, 3, replace=False)
        ceiling = 0.9 if np.isnan(baseline) else baseline + rng.uniform(-0.02, 0.4)
        skill[strong] = np.clip(ceiling * np.array([1, 0.93, 0.75]), 0, 0.97)
        for split in ("select", "report"):
            frames.append(_label_rows(rng, (probe, label, variant, baseline, lexical, n), skill, int(strong[0]), split))
    return pd.concat(frames, ignore_index=True)[list(SCORES.names)]


def _label_rows(
    rng: np.random.Generator, about: tuple[Any, ...], skill: np.ndarray, best: int, split: str
) -> pd.DataFrame:
    probe, label, variant, baseline, lexical, n = about
    trained, cell = probe == "classifier", np.arange(LAYERS * HEADS)
    accuracy = np.clip(skill + rng.normal(0, 0.008, len(skill)), 0, 1)
    accuracy = accuracy if n else np.full_like(accuracy, np.nan)
    half = 1.96 * np.sqrt(accuracy * (1 - accuracy) / max(n, 1))
    coverage = np.full_like(accuracy, np.nan) if trained else rng.beta(5, 3, len(skill))
    baseline = baseline if n else np.nan
    layer, head = cell // HEADS, cell % HEADS
    ruled = probe in ("dependency", "agreement")
    rule = baseline + 0.05 if ruled else np.nan
    bounds = {
        f"{stem}_{end}": accuracy - other + way * half
        for stem, other in (("margin", baseline), ("lexical_margin", lexical), ("rule_margin", rule))
        for end, way in (("low", -1), ("high", 1))
    }
    mass, report = accuracy * coverage * 0.8, split == "report"
    bounds |= {"ci_low": np.maximum(accuracy - half, 0), "ci_high": np.minimum(accuracy + half, 1)}
    bounds |= {"mass_low": mass * 0.95, "mass_high": mass * 1.05}
    where = {"model": "minilm", "step": pd.NA, "corpus": "EWT dev" if report else "EWT train", "maps": "weights"}
    where |= {"probe": probe, "label": label, "variant": variant, "layer": layer, "head": head, "split": split}
    rivals = {"baseline": "random weights" if label == "det" else "" if label == "broad" else BASELINES[probe]}
    rivals |= {"baseline_accuracy": baseline, "lexical_accuracy": lexical if n else np.nan, "rule_accuracy": rule}
    numbers = {"n": n, "clusters": min(n, 318), "effective_clusters": min(n, 318) * 0.9, "accuracy": accuracy}
    numbers |= {"mass": mass, "coverage": coverage, "share": accuracy * (np.nan if trained else 0.8)}
    numbers |= {"precision": accuracy * 0.4 if report else np.nan, "lift": 1 + accuracy if report else np.nan}
    return pd.DataFrame(
        where
        | rivals
        | numbers
        | bounds
        | {
            "name": [f"{a + 1}-{b + 1}" for a, b in zip(layer, head, strict=True)],
            "margin": accuracy - baseline,
            "rule": "nearest word of a tag set" if ruled else "",
            "near_ties": rng.integers(0, 3, len(skill)),
            "selected": (cell == best) & bool(n),
            "layer_attention": "global",
            **_verdicts((probe, label, variant), cell == best, split, tested=not (trained or np.isnan(baseline))),
        }
    )


def _verdicts(about: tuple[str, str, str], best: np.ndarray, split: str, *, tested: bool) -> dict[str, Any]:
    """Return the columns of tests and verdicts; `best` marks the chosen head, and other heads are named."""
    chosen, others = VERDICTS.get(about, (0, ())) if split == "report" else (0, ())
    names = np.array([f"{cell // HEADS + 1}-{cell % HEADS + 1}" for cell in range(LAYERS * HEADS)])
    grade = np.maximum(best * chosen, np.isin(names, others))
    nothing, tested = np.full(len(best), np.nan), tested and split == "report"
    p_adjusted = np.where(grade, 0.0123 if about[1] == "vocative" else 0.0004, 0.8) if tested else nothing
    excluded = 0.05 if about[1] == "case" else 0.2
    verdict = "yes" if grade.any() else "no" if excluded < 0.125 else "undecided"
    return {
        "p": p_adjusted / 4,
        "p_label": p_adjusted / 2,
        "p_adjusted": p_adjusted,
        "p_words": np.where(grade >= 2, p_adjusted, 0.9) if tested and about[0] == "dependency" else nothing,
        "p_rules": np.where(grade >= 3, p_adjusted, 0.9) if tested and about[0] == "dependency" else nothing,
        "stability": np.where(best, 0.6 if about[1] == "pronoun" else 0.925, 0.001)
        if about[0] != "classifier"
        else np.nan,
        "grade": grade,
        "holds": np.where(grade, 1.0, 0.0) if tested else nothing,
        "specialised": (grade > 0) & (about[0] != "position"),
        "verdict": verdict if tested else "",
        "excluded": excluded if tested else np.nan,
    }


def example_rows(scores: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Arcs of every chosen head on every sentence."""
    chosen = scores[scores["selected"] & (scores["split"] == "report") & (scores["probe"] != "classifier")]
    shown = [(head, words) for head in chosen.to_dict("records") for words in SENTENCES]
    rows = [row for number, (head, words) in enumerate(shown) for row in _arcs(number, head, words, rng)]
    return pd.DataFrame(rows)[list(EXAMPLES.names)]


def _arcs(number: int, head: dict[str, Any], words: list[str], rng: np.random.Generator) -> list[dict[str, Any]]:
    """The best key of each word, three keys for those that are asked, the best of which is right if it is a word."""
    n = len(words)
    asked = set(rng.choice(n, 3, replace=False).tolist())
    shared = {column: head[column] for column in ("probe", "label", "variant", "layer", "head", "name", "split")}
    shared |= {"example": number, "source": f"own-{number % 3 + 1:04d}", "words": words}
    rows = []
    for query in range(-1, n):
        keys = np.array([-2, -1, *range(n)])
        near = np.exp(-np.abs(keys - query) / 3) * rng.exponential(1, len(keys)) + (keys == -2) * 0.8
        top = np.argsort(-near)[: 3 if query in asked else 1]
        for rank, i in enumerate(top):
            arc = {"query": query, "key": int(keys[i]), "weight": float(near[i] / near.sum()), "scored": query in asked}
            rows.append(shared | arc | {"gold": bool(query in asked and keys[i] >= 0 and rank == 0)})
    return rows


def run_record() -> dict[str, Any]:
    """A run.json as `experiments` writes it, with one key more than readers know."""
    corpus = {"documents": 318, "fingerprint": "5d0c3e9a71b2f488"}
    size = {"windows": 2001, "words": 25150, "pieces": 31020, "unknown": 0}
    lost = {"split": "select", "scope": "sentence", "reason": "longer than the model's 512 pieces", "count": 2}
    record = json.loads("""{
        "name": "minilm-ewt", "headscope": "0.1.0", "started": "2026-11-20T19:01:00+00:00", "wall_seconds": 37.4,
        "peak_memory_mb": 1422.0, "versions": {"torch": "2.13.0", "transformers": "5.23.0", "numpy": "2.4.6"},
        "python": "3.11.7", "platform": "Linux-x86_64", "git_commit": null, "seed": 0, "device": "cpu", "threads": 2,
        "model": {"name": "minilm", "source": "pretrained", "architecture": "BertModel", "layers": 6, "heads": 12,
            "max_pieces": 512, "sha256": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
        "stages": {"parse": 1.2, "baselines": 3.3, "score": 27.0, "control: random weights": 12.34,
            "control: words": 4.5},
        "notes": ["agreement is read from UD features"], "later": {"key": 1}}""")
    record["corpora"] = {
        "select": {"name": "EWT train", "sentences": 4000, "words": 71204, **corpus},
        "report": {"name": "EWT dev", "sentences": 2001, "words": 25150, **corpus},
    }
    record["scored"] = {"select": {"sentence": size}, "report": {"sentence": size, "window": size}}
    record["dropped"] = [lost | {"examples": ["EWT-0012", HOSTILE]}]
    return dict(record)


def config(**tables: dict[str, Any]) -> str:
    """Return config.toml as `experiments` writes it, defaults included."""
    given = {"name": "minilm-ewt", "corpus": {"select": {"name": "grammar"}}}
    return tomli_w.dumps(resolved(RunConfig.model_validate(given | tables)))


def write_run(folder: Path) -> Path:
    """Write the synthetic run into `folder`, the same each time."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    scores = score_rows(rng)
    write_scores(scores, folder)
    write_examples(example_rows(scores, rng), folder)
    (folder / "run.json").write_text(json.dumps(run_record()), encoding="utf-8")
    settings = config(controls={"random": 2, "permuted": 0}, verdict={"alpha": 0.01, "margin": 0.125})
    (folder / "config.toml").write_text(settings, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def written_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The synthetic run folder, written once; not to be changed."""
    return write_run(tmp_path_factory.mktemp("runs") / "minilm-ewt")


@pytest.fixture(scope="session")
def run(written_run: Path) -> Run:
    return Run.open(written_run)


@pytest.fixture
def run_folder(written_run: Path, tmp_path: Path) -> Path:
    """A copy of the synthetic run folder that a test may change."""
    return shutil.copytree(written_run, tmp_path / "minilm-ewt")


@pytest.fixture(scope="session")
def report(written_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the report on the synthetic run; not to be changed."""
    return write_report(shutil.copytree(written_run, tmp_path_factory.mktemp("reports") / "minilm-ewt")).parent


@pytest.fixture(scope="session")
def scores(written_run: Path) -> pd.DataFrame:
    """The scores of the synthetic run; not to be changed."""
    return read_scores(written_run / "scores.parquet")


@pytest.fixture(scope="session")
def examples(written_run: Path) -> pd.DataFrame:
    """The arcs of its example sentences; not to be changed."""
    return read_examples(written_run / "examples.parquet")


@pytest.fixture(scope="session")
def hostile() -> str:
    """The label that breaks pages unless it is escaped."""
    return HOSTILE


@pytest.fixture(scope="session")
def head_tables() -> dict[str, pd.DataFrame]:
    """Tables of heads as a set; not to be changed."""
    return head_rows.head_tables()


UNPACKED = "!document.querySelector('main[aria-busy]')"
"Whether the scripts of a page have run."


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """Opens a page and fails at the end where it logged an error or asked for anything but itself."""
    pages, complaints = [], []

    def open_page(path: Path, width: int = 1280, fragment: str = "") -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type in {"error", "warning"} else None
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: None if request.url.startswith(("file:", "data:")) else complaints.append(request.url),
        )
        page.goto(path.as_uri() + fragment)
        page.wait_for_function(UNPACKED)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert not complaints


@pytest.fixture(scope="session")
def serious_faults(browser: Any) -> Callable[[Path], list[str]]:
    """Returns what axe-core calls serious or critical on a page, light and dark, with everything unfolded."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

    def faults(path: Path) -> list[str]:
        found = []
        for scheme in ("light", "dark"):
            page = browser.new_page(color_scheme=scheme)
            page.goto(path.as_uri())
            page.wait_for_function(UNPACKED)
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            for fault in axe.Axe().run(page).response["violations"]:
                if fault["impact"] in ("serious", "critical"):
                    places = [node["html"][:120] for node in fault["nodes"]]
                    found.append(f"{scheme}: {fault['id']}: {fault['help']}: {len(places)} of {places[:3]}")
            page.close()
        return found

    return faults


ROLE = ("dependency", "obj", "dependent->head")
"The relation in which five heads of the synthetic run have a grade."

ODD_WORDS = ("<script>alert(1)</script>", '"a\'b"', "שלום", "🦉", "<b>&amp;")
"Words that break pages unless they are text everywhere."


@pytest.fixture(scope="session")
def attention_tables() -> dict[str, pd.DataFrame]:
    """What all heads of the synthetic run do on two sentences: head 3-5 looks back, all others look at [SEP].

    Head 3-5 gives [CLS] a tenth. The second sentence asks for "obj", the first for "det" and what nobody scored.
    """
    texts = [["The", "keys", "to", "the", "cabinet"], list(ODD_WORDS)]
    told = [
        {"sentence": i, "source": f"own-{i}", "words": words, "pieces": [[word[:2], f"##{word[2:]}"] for word in words]}
        for i, words in enumerate(texts)
    ]
    places = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    back = [key for word in range(5) for key in (word - 1, -1 if word else -2)]
    attention = [
        {"sentence": i, "layer": layer, "head": head, "name": f"{layer + 1}-{head + 1}"}
        | {"keys": back if (layer, head) == (2, 4) else [-2, -1] * 5, "weights": [204, 26] * 5}
        for i in range(2)
        for layer, head in places
    ]
    arcs = [(0, "det", 0, 1), (0, "det", 3, 4), (0, "unheard", 1, 2), (1, "obj", 1, 0), (1, "obj", 3, 0)]
    gold = [
        {"sentence": i, "probe": ROLE[0], "label": label, "variant": ROLE[2], "query": query, "key": key}
        for i, label, query, key in arcs
    ]
    sentences = pd.DataFrame(told).assign(before="[CLS]", after="[SEP]")
    return {"sentences": sentences, "gold": pd.DataFrame(gold), "attention": pd.DataFrame(attention)}


@pytest.fixture(scope="session")
def attended_run(
    written_run: Path, attention_tables: dict[str, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of the synthetic run with sentences on which every head is kept; not to be changed."""
    folder = shutil.copytree(written_run, tmp_path_factory.mktemp("attended") / "minilm-ewt")
    write_attention(attention_tables, folder)
    return folder


@pytest.fixture(scope="session")
def too_wide() -> Callable[[Path], list[str]]:
    """Returns the tables of a folder's index.html and report.md that open with more than eight columns."""

    def tables(folder: Path) -> list[str]:
        html, markdown = ((folder / name).read_text(encoding="utf-8") for name in ("index.html", "report.md"))
        found = []
        for head in re.findall(r'<table class="data[^>]*>.*?<thead>(.*?)</thead>', html, re.DOTALL):
            shown = [one for one in re.findall(r'<th scope="col" class="([^"]*)"', head) if "more" not in one.split()]
            found += [f"{len(shown)} on the page: {head[:200]}"] * (len(shown) > 8)
        rules = (line for line in markdown.splitlines() if re.fullmatch(r"\|(-+:?\|)+", line))
        return [*found, *(f"in Markdown: {rule}" for rule in rules if rule.count("|") > 9)]

    return tables


@pytest.fixture(scope="session")
def more_than_a_screen() -> Callable[[Path], list[str]]:
    """Returns what a folder's report.md has too much of, and where its index.html does not open with the same table."""

    def faults(folder: Path) -> list[str]:
        html, text = ((folder / name).read_text(encoding="utf-8") for name in ("index.html", "report.md"))
        lines, rule = text.splitlines(), re.compile(r"\|(-+:?\|)+")
        tables, rows = sum(bool(rule.fullmatch(line)) for line in lines), sum(line.startswith("| ") for line in lines)
        most = {"words": (len(text.split()), 600), "tables": (tables, 1), "rows": (rows - tables, 12)}
        most["charts"] = (text.count("(index.html draws it)"), 2)
        found = [f"{count} {what}, {limit} at most" for what, (count, limit) in most.items() if count > limit]
        links = len(re.findall("<a ", html.partition("<nav")[2].partition("</nav>")[0]))
        found += [f"{links} links on top"] * (links > 8)
        heads = re.findall(r"<thead>(.*?)</thead>", html, re.DOTALL)
        shown = [re.sub("<[^>]+>", "", one) for one in re.findall("<th .*?</th>", heads[0])] if heads else []
        columns = next((before.count(" | ") + 1 for before, line in pairwise(lines) if rule.fullmatch(line)), 0)
        return found + [f"the page opens with {shown}"] * bool(tables and len(shown) != columns)

    return faults


@pytest.fixture(scope="session")
def page_faults(
    more_than_a_screen: Callable[[Path], list[str]], too_wide: Callable[[Path], list[str]]
) -> Callable[[Path], list[str]]:
    """Returns what is too large of the pages of a folder: of report.md, and of the tables of both."""
    return lambda folder: [*more_than_a_screen(folder), *too_wide(folder)]

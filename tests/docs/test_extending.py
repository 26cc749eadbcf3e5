"""The files that docs/extending.md writes out: they work as they stand there."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from experiments.config.section import ConfigError
from experiments.reproduce import registry as findings
from experiments.reproduce.judge import judge
from experiments.reproduce.reproduce import Invocation
from experiments.run.config import load_config
from experiments.run.run import run
from experiments.statements.finding import FindingError
from experiments.statements.subject import Subject
from headscope import score
from mha import load_model, record
from probes import registry
from probes.corpora.corpus import Corpus
from probes.records import Document, Sentence
from probes.scoring.aligned import cut_texts, sample_texts
from reports import Run
from reports.measures import registry as known
from reports.statements.finding_record import NOT_REPRODUCED, REPRODUCED
from tests.experiments.conftest import headscope as headscope
from tests.probes.conftest import asked as asked
from tests.probes.conftest import tree as tree
from tests.probes.words.test_own import bare

ROOT = Path(__file__).parents[2]


@pytest.fixture
def shown(module: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """Return path -> the module that the page shows; a probe that it registers is forgotten after the test."""
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    found: dict[str, ModuleType] = {}
    for block in module("commands").blocks(ROOT / "docs" / "extending.md"):
        if block.title.endswith(".py"):
            name = block.title.removesuffix(".py").replace("/", ".")
            found[block.title] = ModuleType(name)
            monkeypatch.setitem(sys.modules, name, found[block.title])
            exec(compile(block.text, block.title, "exec"), vars(found[block.title]))
    return found


def test_the_probes_of_the_page_are_asked_as_they_stand_there(
    module: Callable[[str], ModuleType],
    base: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tree: Callable[..., Sentence],
    asked: Callable[..., object],
) -> None:
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    blocks = module("commands").blocks(ROOT / "docs" / "extending.md")
    for block in (one for one in blocks if one.title in ("own.py", "answers.jsonl")):
        (tmp_path / block.title).write_text(block.text, encoding="utf-8")
    (config,) = (one.text for one in blocks if one.text.startswith("[probes]"))
    path = tmp_path / "asked.toml"
    path.write_text(base.read_text("utf-8").replace("probes.names", "# ") + config, encoding="utf-8")
    assert load_config(path).probes.names == ("dependency", "subject_to_object", "answers")
    probe = registry.get_probe("subject_to_object")
    text = "Whom PRON 3 obj _\nships NOUN 3 nsubj _\ncarry VERB 0 root _\nsank VERB 3 conj _\nwe PRON 4 nsubj _"
    assert asked(*probe.targets(Document("d", (tree(text),))).values()) == [(1, [0], "all")]
    few = {"name": "grammar", "documents": 12}
    score(load_config(base).model.name, few, [probe, "dependency"], fast=True).best("subject_to_object")
    first, second = (["The", "dog", "saw", "a", "cat", "."], ["A", "cat", "saw", "it", "."])
    found = [
        asked(*registry.get_probe("answers").targets(Document("d", (bare(words),))).values())
        for words in (first, second, second[1:])
    ]
    assert found == [[(1, [4], "first")], [(1, [3], "all")], []]


def test_the_finding_of_the_page_holds_on_its_planted_tables_and_fails_on_the_others(
    shown: dict[str, ModuleType],
) -> None:
    (finding,) = shown["experiments/findings/somebody_2020.py"].FINDINGS
    holds, fails = shown["tests/experiments/findings/somebody_2020.py"].PLANTED[finding.id]
    assert judge(finding, finding.numbers(holds)).verdict == REPRODUCED
    assert judge(finding, finding.numbers(fails)).verdict == NOT_REPRODUCED


def test_the_finding_of_the_page_is_known_by_its_file_and_forgotten_where_its_id_is_taken(
    module: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = module("commands").blocks(ROOT / "docs" / "extending.md")
    (text,) = (one.text for one in pages if one.title == "experiments/findings/somebody_2020.py")
    monkeypatch.setattr(findings, "_USED", {})
    file = tmp_path / "mine.py"
    file.write_text(text, encoding="utf-8")
    try:
        assert findings.use(file) == ["somebody-objects"]
        assert [one.id for one in findings.select_findings(["somebody-2020"])] == ["somebody-objects"]
        call = Invocation(Path("runs/mine")).with_controls(["somebody-objects"], Subject.of("minilm"))
        assert call.endswith(f"--controls --out runs/mine --findings {file}")
        (tmp_path / "again.py").write_text(text, encoding="utf-8")
        with pytest.raises(FindingError, match="two findings are called 'somebody-objects'"):
            findings.use(tmp_path / "again.py")
        (tmp_path / "none.py").write_text("PAPER = 1", encoding="utf-8")
        with pytest.raises(FindingError, match=r"headscope_finding_none: expected PAPER, a Paper, and FINDINGS"):
            findings.use(tmp_path / "none.py")
        with pytest.raises(
            FindingError, match=r"gone\.py: no such file; expected a Python file with PAPER and FINDINGS"
        ):
            findings.use(tmp_path / "gone.py")
        assert "somebody-objects" in findings.all_findings()
    finally:
        findings.papers.cache_clear()


@pytest.fixture(scope="module")
def measured(
    module: Callable[[str], ModuleType], base: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Yield the folder of a small run with the measure of the page, which lies as mine.py in the current folder."""
    (mine,) = (one for one in module("commands").blocks(ROOT / "docs" / "extending.md") if one.title == "mine.py")
    folder = tmp_path_factory.mktemp("mine")
    (folder / "mine.py").write_text(mine.text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(known, "_USED", {})
        yield run(load_config(base, ['measures=["mine.py"]', "tags.texts=8"]), folder / "runs")


def pages(folder: Path) -> list[str]:
    """Return both pages of a run."""
    return [(folder / "report" / name).read_text("utf-8") for name in ("index.html", "report.md")]


def test_a_reader_finds_all_of_the_measure_of_the_page(measured: Path) -> None:
    tags = Run.open(measured).tables["tags"]
    assert len(pd.read_csv(measured / "tags.csv")) == len(tags)
    assert "[tags]\ntexts = 8\n" in (measured / "config.toml").read_text("utf-8")
    assert "tags" in Run.open(measured).record.stages
    assert load_config(measured / "config.toml").tags.texts == 8, "the config names the file by its whole path"
    page, _ = pages(measured)
    assert '<section id="tags" class="wrap">\n<h2>Parts of speech</h2>' in page
    section = page.partition("<h2>Parts of speech</h2>")[2].partition("</section>")[0]
    (measure,) = (one for one in known.measures() if one.name == "tags")
    assert "attention to NOUN" in {one.title for one in measure.maps(Run.open(measured))}
    most = tags[tags["tag"] == "NOUN"].sort_values("attention").iloc[-1]
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", section)
    place = cells.index("NOUN")
    numbers = [f"{100 * most[name]:.1f}" for name in ("attention", "words")]
    assert cells[place : place + 4] == ["NOUN", most["name"], *numbers]
    assert "added up by part of speech, over at most 8 sentences." in page


def test_the_measure_of_the_page_adds_up_the_attention_of_words_to_words(measured: Path, tiny: Path) -> None:
    model, found = load_model(str(tiny)), Run.open(measured).tables["tags"]
    sums = dict.fromkeys(found["tag"], 0)
    for text in sample_texts(Corpus.generated(6, 2).sentences(), 8):
        (pieces,) = cut_texts(model, [text])
        if len(pieces) > model.max_pieces:
            continue
        with torch.inference_mode(), record(model.module) as seen:
            model.run(torch.from_numpy(pieces.ids)[None].long(), None)
        pattern = torch.cat(seen["pattern"]).double().numpy()
        of_word = [pieces.word == word for word in range(len(text))]
        rows = sum(pattern[:, :, of].mean(2) for of in of_word)
        for tag, of in zip(text.upos, of_word, strict=True):
            sums[tag] += rows[:, :, of].sum(2).ravel()
    for tag, rows in found.groupby("tag"):
        np.testing.assert_allclose(rows["attention"], sums[tag] / sum(sums.values()), rtol=1e-5)
    np.testing.assert_allclose(found.groupby("name")[["attention", "words"]].sum(), 1)


def test_the_keys_of_the_measure_are_checked_and_without_its_file_they_are_unknown(
    measured: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for change, said in (
        ("tags.texts='many'", r"tags\.texts: expected a whole number"),
        ("tag.x=2", "unknown key 'tag'"),
    ):
        with pytest.raises(ConfigError, match=rf"base\.toml: {said}"):
            load_config(base, ['measures=["mine.py"]', change])
    monkeypatch.setattr(known, "_USED", {})
    with pytest.raises(ConfigError, match="unknown key 'tags'"):
        load_config(base, ["tags.texts=2"])
    with pytest.raises(ConfigError, match=r"none\.py: no such file; expected a Python file with a measure"):
        load_config(base, ['measures=["none.py"]'])


def test_another_process_says_what_it_leaves_out_until_the_file_is_named(
    measured: Path, headscope: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pages(measured)
    monkeypatch.setattr(known, "_USED", {})
    note = "The page leaves out tables of measures that are not loaded: tags."
    said = headscope("report", measured)
    assert said.code == 0
    assert said.err == f"{note} Load them by their files: headscope report RUN --measure FILE.\n"
    page, text = pages(measured)
    assert "Parts of speech" not in page + text
    assert note in page
    said = headscope("report", measured, "--measure", "mine.py")
    assert (said.code, said.err) == (0, "")
    assert pages(measured) == before

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from experiments.run import design
from experiments.run.design import DesignError, Needed, demands, needed_for
from probes import Corpus, get_probe
from probes.grammar import generate

NEEDED = [
    {"margin": 0.1, "power": 0.8, "items": None, "documents": None, "at_most": False},
    {"margin": 0.15, "power": 0.8, "items": 800, "documents": 80, "at_most": False},
    {"margin": 0.3, "power": 0.8, "items": 100, "documents": 20, "at_most": False},
    {"margin": 0.15, "power": 0.95, "items": 1200, "documents": 100, "at_most": False},
    {"margin": 0.3, "power": 0.95, "items": None, "documents": None, "at_most": False},
]
FEW = Needed(500, 1, at_most=False)


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write a study's record where the published one is looked for; return its place."""
    path = tmp_path / "sandbox.json"
    path.write_text(
        json.dumps({"needed": NEEDED, "started": "2026-01-02T03:04:05Z", "git_commit": "0123456789abcdef"}),
        encoding="utf-8",
    )
    monkeypatch.setattr(design, "RECORD", path)
    design.published_record.cache_clear()
    yield path
    design.published_record.cache_clear()


def test_items_are_those_of_the_curve_and_between_margins_on_a_line_of_logarithms() -> None:
    assert needed_for(NEEDED, 0.15, 0.8) == Needed(800, 80, at_most=False)
    assert needed_for(NEEDED, 0.3, 0.8) == Needed(100, 20, at_most=False)
    middle = math.exp((math.log(0.15) + math.log(0.3)) / 2)
    assert needed_for(NEEDED, middle, 0.8) == Needed(math.ceil(math.sqrt(800 * 100)), 40, at_most=False)
    assert needed_for(NEEDED, 0.15, 0.95) == Needed(1200, 100, at_most=False)


@pytest.mark.parametrize(
    ("margin", "power", "message"),
    [
        (0.1, 0.8, "margin 0.1: a power of 0.8 was reached for margins from 0.15 to 0.3"),
        (0.4, 0.8, "margin 0.4: "),
        (0.2, 0.5, "power 0.5: the curves were read at 0.8 and 0.95"),
    ],
)
def test_what_the_study_did_not_reach_is_refused(margin: float, power: float, message: str) -> None:
    with pytest.raises(DesignError) as refused:
        needed_for(NEEDED, margin, power)
    assert str(refused.value).startswith(message)


def test_where_the_smallest_size_has_more_power_the_items_are_an_upper_bound() -> None:
    bound = [row | {"at_most": row["margin"] == 0.3} for row in NEEDED]
    assert needed_for(bound, 0.3, 0.8).at_most
    assert needed_for(bound, 0.2, 0.8).at_most
    assert not needed_for(bound, 0.15, 0.8).at_most


def test_no_power_at_all_is_said() -> None:
    with pytest.raises(DesignError, match=r"power 0.95: no margin reached it"):
        needed_for([*NEEDED[:1], NEEDED[0] | {"power": 0.95}], 0.1, 0.95)


def test_sentences_follow_from_how_often_a_label_occurs() -> None:
    corpus = Corpus.of(generate(10, 3))
    sentences = corpus.size()["sentences"]
    labels = [label for text in corpus.stream() for label in text.deprels]
    found = {
        (one.variant, one.label): one
        for one in demands(corpus.sentences(), [get_probe("dependency"), get_probe("position")], sentences, FEW)
    }
    for label in ("det", "obj"):
        one = found["dependent->head", label]
        assert one.items == labels.count(label)
        assert one.sentences == math.ceil(500 * sentences / labels.count(label))
    assert found["dependent->head", "nsubj:*"].items == sum(label.startswith("nsubj") for label in labels)
    assert ("dependent->head", "det:*") not in found
    assert not any(label == "broad" for _, label in found)


def test_documents_are_needed_as_well_as_items() -> None:
    corpus = Corpus.of(generate(10, 3))
    (one,) = [
        one
        for one in demands(corpus.sentences(), [get_probe("dependency")], 50, Needed(1, 40, at_most=False))
        if (one.variant, one.label) == ("dependent->head", "obj")
    ]
    assert one.documents == sum("obj" in text.deprels for text in corpus.stream())
    assert one.sentences == math.ceil(50 * 40 / one.documents)


@pytest.mark.slow
def test_the_command_says_what_each_label_takes_and_whether_there_is_enough(
    record: Path, headscope: Callable[..., Any]
) -> None:
    said = headscope("design", "grammar", "--margin", "0.3", "--power", "0.8", "--probe", "agreement")
    assert (said.code, said.err) == (0, "")
    text = " ".join(said.out.split())
    assert "30 points above its strongest baseline" in text
    assert "80 % of runs when a label has 100 scored words in 20 documents of the report split" in text
    lines = {line.split()[2]: line.split() for line in said.out.splitlines() if line.strip().startswith("agreement")}
    corpus = Corpus.generated(400, 0)
    sentences = corpus.size()["sentences"]
    assert lines["all"][-1] == "yes"
    items, documents, needed = (int(lines["all"][place].replace(",", "")) for place in (-4, -3, -2))
    assert needed == math.ceil(sentences * max(100 / items, 20 / documents))
    assert "dependency" not in said.out


def test_a_margin_that_cannot_be_answered_is_a_mistake_of_one_line(record: Path, headscope: Callable[..., Any]) -> None:
    said = headscope("design", "grammar", "--margin", "0.01")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("headscope: margin 0.01: ")
    record.unlink()
    design.published_record.cache_clear()
    said = headscope("design", "grammar")
    assert said.code == 2
    assert "make it with 'headscope sandbox --out" in said.err


def test_a_corpus_is_a_name_or_a_file_and_anything_else_is_a_mistake_of_one_line(
    record: Path, headscope: Callable[..., Any], write_corpus: Callable[..., Path], sentences: list[str], tmp_path: Path
) -> None:
    said = headscope(
        "design", write_corpus(tmp_path / "sixty.conllu", sentences), "--margin", "0.3", "--probe", "dependency"
    )
    assert (said.code, said.err) == (0, "")
    assert "enough of" in said.out
    said = headscope("design", "ewt-dv")
    assert (said.code, said.out) == (2, "")
    assert "unknown corpus 'ewt-dv'; did you mean 'ewt-dev'?" in said.err

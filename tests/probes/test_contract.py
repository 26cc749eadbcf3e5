"""What every registered probe promises, on texts of all shapes."""

import doctest
import inspect
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from mha.pieces import CLS, SEP
from probes import get_probe, probe_names
from probes.corpora.windows import windows
from probes.grammar import generate
from probes.records import Document, Mention, Sentence
from probes.registry import CONTROLS, NEEDS, Probe
from probes.scoring.baselines import BASELINES
from probes.scoring.hashed_random import shuffled_places
from probes.targets import OTHERS, TOKENS, WORDS, Targets
from probes.words.senses import sense_items
from reports.tables.grades import stands_alone
from tests.probes.conftest import by_item
from tests.probes.reactions import chains
from tests.probes.text_pairs import reordered


@pytest.fixture(params=probe_names())
def probe(request: pytest.FixtureRequest, list_words: Callable[[Iterable[str]], None]) -> Probe:
    probe = get_probe(request.param)
    if probe.needs == "frequencies":
        list_words(("The", "is", "it", "old", "ship", "was"))
    return probe


@pytest.fixture(scope="session")
def documents(random_documents: Callable[..., list[Document]]) -> list[Document]:
    """Sentences, windows of sentences that are cut at their borders, whole documents, and next to nothing."""
    many = random_documents(20, sentences=5, longest=14)
    many += random_documents(10, seed=1, sentences=4, longest=14, tangled=True)
    many += generate(15, seed=0, wide=True)
    alone = Sentence("one", ("w",), np.array([-1]), ("root",), ("NOUN",), ("Number=Sing",), (Mention((0,), 0, "e"),))
    bare = Sentence("bare", ("w", "w", "w"), np.full(3, -1), ("",) * 3)
    edge = [Document("none", ()), Document("one", (alone,)), Document("bare", (bare,)), Document("long", (bare,) * 30)]
    sentences = [one for document in many for one in document.split_sentences()]
    made = [*sense_items(30, seed=5), *chains(30, seed=5), *reordered(30, seed=5)]
    return [*edge, *made, *sentences, *(window for document in many for window in windows(document, 11)), *many]


def candidates_of(targets: Targets, item: int, words: int) -> set[int]:
    if not isinstance(targets.candidates, str):
        return set(targets.candidates[0][targets.candidates[1] == item].tolist())
    query = int(targets.query[item])
    named = {WORDS: set(range(words)), OTHERS: set(range(words)) - {query}, TOKENS: {*range(words), CLS, SEP}}
    return named[targets.candidates]


def told(targets: Targets) -> object:
    """Everything that targets say."""
    items = len(targets)
    listed = targets.candidates if isinstance(targets.candidates, str) else by_item(targets.candidates, items)
    gold = by_item(targets.gold, items)
    return targets.query.tolist(), gold, list(targets.label), listed, targets.by_column, targets.spread


def test_it_says_what_it_is(probe: Probe) -> None:
    assert probe.scope in ("sentence", "window")
    assert probe.needs in NEEDS
    assert set(probe.baselines) <= set(BASELINES)
    assert set(probe.controls) <= set(CONTROLS)
    assert {"random weights", "permuted weights"} <= set(probe.controls)
    assert len(set(probe.controls)) == len(probe.controls)
    assert len(probe.source) > 10
    assert len(set(probe.variants)) == len(probe.variants) > 0
    assert isinstance(probe, Probe)


def test_it_is_documented_by_an_example_that_runs(probe: Probe) -> None:
    kind = type(probe)
    assert kind.__doc__
    assert kind.__doc__.splitlines()[0].endswith(".")
    tests = doctest.DocTestFinder(recurse=False).find(kind, globs=vars(inspect.getmodule(kind)))
    assert sum(len(test.examples) for test in tests) >= 2
    runner = doctest.DocTestRunner()
    for test in tests:
        runner.run(test)
    assert runner.failures == 0


def test_targets_are_well_formed_and_something_is_asked_in_every_variant(
    probe: Probe, documents: list[Document]
) -> None:
    """A batch has one kind of candidates and one direction a variant."""
    asked, ways = dict.fromkeys(probe.variants, 0), set()
    for document in documents:
        found = probe.targets(document)
        assert set(found) == set(probe.variants)
        for variant, targets in found.items():
            asked[variant] += len(targets)
            listed = not isinstance(targets.candidates, str)
            ways.add((variant, listed or targets.candidates, targets.by_column, targets.spread))
            assert targets.by_column == ("<-" in variant or "by column" in variant)
            assert listed or targets.candidates in (OTHERS, WORDS, TOKENS)
            n = len(document)
            assert targets.query.dtype == targets.gold[0].dtype == targets.gold[1].dtype == np.int64
            assert bool(((targets.query >= 0) & (targets.query < n)).all())
            assert n > 1 or len(targets) == 0 or (n == 1 and targets.candidates in (WORDS, TOKENS))
            for _, item in [targets.gold, targets.candidates] if listed else [targets.gold]:
                assert bool((np.diff(item) >= 0).all())
                assert targets.spread or set(item.tolist()) == set(range(len(targets)))
            for item, gold in enumerate(by_item(targets.gold, len(targets))):
                assert len(set(gold)) == len(gold)
                assert set(gold) <= candidates_of(targets, item, n)
                assert bool(gold) != targets.spread
                assert not targets.by_column or min(gold) >= 0
                assert int(targets.query[item]) not in gold or targets.label[item] == "same"
            assert len(targets.label) == len(targets)
            for label in set(targets.label):
                pool = list(probe.pool(label))
                assert label
                assert len(set(pool)) == len(pool) > 0
                assert all(pool)
                assert pool[0] == label or label not in pool
                assert sum(stands_alone(probe.name, one) for one in pool) <= 1, "no word counts twice"
    assert min(asked.values()) > 10
    assert len(ways) == len(probe.variants)


def test_the_same_text_gives_the_same_targets_and_stays_as_it_was(probe: Probe, documents: list[Document]) -> None:
    again = get_probe(probe.name)
    for document in documents:
        before = [(s.words, s.heads.tolist(), s.deprels, s.mentions) for s in document.sentences]
        first = {variant: told(targets) for variant, targets in probe.targets(document).items()}
        assert first == {variant: told(targets) for variant, targets in again.targets(document).items()}
        assert [(s.words, s.heads.tolist(), s.deprels, s.mentions) for s in document.sentences] == before


def test_questions_follow_words_that_stand_elsewhere(probe: Probe, documents: list[Document]) -> None:
    """Moved there and back they are the same, and gold stays among the candidates."""
    for document in documents:
        places = shuffled_places(document, 0)
        for targets in probe.targets(document).values():
            moved = targets.moved(places)
            assert told(moved.moved(np.argsort(places))) == told(targets)
            for item, gold in enumerate(by_item(moved.gold, len(moved))):
                assert set(gold) <= candidates_of(moved, item, len(document))

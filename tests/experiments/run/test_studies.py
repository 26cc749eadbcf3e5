"""Confusion and relatedness as parts of a run: tables, notes and pages."""

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.run.config import load_config
from experiments.run.run import run
from probes.grammar.lexicon import NOUNS
from reports import Run
from reports.studies.confusion.tables import CONFUSION
from reports.studies.relatedness.tables import RELATEDNESS

pytestmark = pytest.mark.slow

Scored = Callable[..., Run]


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ratings") / "made.txt"
    nouns = sorted({noun.singular for noun in NOUNS})
    pairs = [f"{one} {other} {(i * j) % 11}\n" for i, one in enumerate(nouns) for j, other in enumerate(nouns[:i])]
    path.write_text("".join(pairs), encoding="utf-8")
    return path


def test_a_run_of_other_probes_measures_neither(scored: Scored) -> None:
    found = scored()
    assert not {"confusion", "relatedness"} & set(found.studies)


def test_a_run_that_asks_about_distractors_tells_confusion_of_both_splits(scored: Scored) -> None:
    found = scored('probes.names=["distractors"]')
    bits = found.studies["confusion"]
    assert tuple(bits.columns) == CONFUSION.names
    assert set(bits.split) == {"select", "report"}
    assert set(bits.corpus) == {"grammar-1", "grammar-2"}
    every = bits[(bits.label == "all") & (bits.split == "report")]
    asked = found.scores[(found.scores.label == "all") & (found.scores.variant == "noun groups")]
    assert set(every.n) == set(asked[asked.split == "report"].n)
    assert sorted(set(every["head"])) == [-1, *range(found.heads)]
    assert (every.chance > 0).all()
    assert (found.folder / "confusion.csv").is_file()


def test_ratings_are_looked_up_in_the_sentences_of_the_corpora(scored: Scored, ratings: Path) -> None:
    found = scored(f'relatedness.ratings=["{ratings}"]', "relatedness.permutations=39")
    related = found.studies["relatedness"]
    assert tuple(related.columns) == RELATEDNESS.names
    assert set(related.ratings) == {"made"}
    assert len(related) == 2 * found.layers * found.heads
    assert (related.n > 5).all()
    assert related.p.min() >= 1 / 40


def test_where_there_is_no_rated_pair_a_note_says_so(scored: Scored, tmp_path: Path) -> None:
    path = tmp_path / "none.txt"
    path.write_text("xylophone zebra 5\n", encoding="utf-8")
    found = scored(f'relatedness.ratings=["{path}"]')
    assert found.studies["relatedness"].empty
    notes = [note for note in found.record.notes if note.startswith("relatedness")]
    assert notes == [
        f"relatedness, none: no rated pair in a sentence of the {split} split" for split in ("select", "report")
    ]


def test_where_no_probe_reads_sentences_a_note_says_so(scored: Scored, ratings: Path) -> None:
    found = scored(f'relatedness.ratings=["{ratings}"]', 'probes.names=["coreference"]', "scoring.window_words=15")
    assert [note for note in found.record.notes if note.startswith("relatedness")] == [
        "relatedness, made: no probe of this run reads sentences"
    ]


def test_numbers_are_the_same_with_and_without_studies(scored: Scored, ratings: Path) -> None:
    plain, watched = scored(), scored(f'relatedness.ratings=["{ratings}"]', "relatedness.permutations=39")
    assert plain.scores.equals(watched.scores)


def test_the_page_has_both_sections_and_senses_and_named_files_can_be_corpora(
    base: Path, ratings: Path, tmp_path: Path
) -> None:
    changes = ('probes.names=["sense", "distractors"]', f'relatedness.ratings=["{ratings}"]')
    one = run(load_config(base, (*changes, 'name="one"', 'corpus={select={name="grammar", documents=30}}')), tmp_path)
    for text in ((one / "report/index.html").read_text("utf-8"), (one / "report/report.md").read_text("utf-8")):
        assert "Agreement among distractors" in text
        assert "Related words" in text
        assert "different pairs" in text
    other = run(load_config(base, (*changes, 'name="two"', 'corpus={select={name="senses", documents=80}}')), tmp_path)
    scores = Run.open(other).scores
    assert set(scores.probe) == {"sense"}
    assert {"all", "bank", "bank: river", "with a rival"} <= set(scores.label)
    page = (other / "report/index.html").read_text("utf-8")
    assert "<h2>Agreement among distractors" not in page, "nothing was measured"
    assert "Related words" in page


def test_a_page_without_a_rated_pair_says_so(base: Path, tmp_path: Path) -> None:
    path = tmp_path / "none.txt"
    path.write_text("xylophone zebra 5\n", encoding="utf-8")
    folder = run(load_config(base, (f'relatedness.ratings=["{path}"]',)), tmp_path)
    for name in ("index.html", "report.md"):
        assert "No two rated words stood in one sentence" in (folder / "report" / name).read_text("utf-8")

"""The record of a run: read as it is written, and tolerant of what older runs did not write."""

from reports.run.record import CorpusFacts, Lost, ModelFacts, ReadTexts, RunRecord

LOST = {"split": "report", "scope": "sentence", "reason": "too long", "count": 3, "examples": ["a", "b"]}


def test_what_is_dropped_is_written_as_it_is_read() -> None:
    (lost,) = RunRecord.of({"dropped": [LOST]}).dropped
    assert (lost.reason, lost.count) == ("too long", 3)
    assert [*lost.as_json().items()] == [*LOST.items()]


def test_every_part_is_read_by_name() -> None:
    about = RunRecord.of(
        {
            "name": "one",
            "seed": 0,
            "model": {"name": "minilm", "layers": 6, "sha256": "ab"},
            "corpora": {"report": {"name": "ewt", "fingerprint": "f", "sentences": 9}},
            "scored": {"report": {"sentence": {"windows": 9, "words": 80, "pieces": 99}}},
            "stages": {"statistics": 1.5},
            "notes": ["a note"],
            "later": {"key": 1},
        }
    )
    assert (about.name, about.seed, about.notes, about.stages["statistics"]) == ("one", 0, ("a note",), 1.5)
    assert about.model == ModelFacts("minilm", layers=6, sha256="ab")
    assert about.corpora == {"report": CorpusFacts("ewt", "f", sentences=9)}
    assert about.scored["report"]["sentence"] == ReadTexts(9, 80, 99)


def test_an_older_record_says_less_and_a_newer_one_more() -> None:
    assert RunRecord.of({}) == RunRecord()
    assert RunRecord.of({"model": None, "corpora": None, "dropped": None, "notes": None}) == RunRecord()
    assert RunRecord.of({"model": {"name": "m", "later": 1}, "dropped": [{"count": 2, "later": 1}]}) == RunRecord(
        model=ModelFacts("m"), dropped=(Lost(count=2),)
    )

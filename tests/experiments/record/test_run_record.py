"""What a run notes about itself comes back from run.json as it was noted."""

from pathlib import Path

from experiments.record.run_record import Journal
from reports.run.record import Lost, ReadTexts, RunRecord, read_record


def test_what_a_journal_writes_is_read_back_equal(tmp_path: Path) -> None:
    journal = Journal("headscope run one.toml")
    with journal.stage("score"):
        journal.note("a note")
        journal.note("a note")
    journal.scored["report"] = {"sentence": ReadTexts(9, 80, 99, 3)}
    journal.facts = {"heads": {"texts": 20, "stress": 0.08}}
    journal.dropped.append(Lost("report", "window", "mention", 2))
    record = journal.complete(RunRecord(name="one", seed=3))
    record.write(tmp_path / "run.json")
    assert read_record(tmp_path / "run.json") == record
    assert (record.name, record.seed, record.command, record.notes) == ("one", 3, journal.command, ("a note",))
    assert set(record.stages) == {"score"}


def test_stages_that_were_worked_on_side_by_side_share_the_time_that_passed() -> None:
    journal = Journal()
    journal.share({"one": 6.0, "two": 2.0}, 4.0)
    journal.share({"one": 1.0}, 1.0)
    assert journal.stages == {"one": 4.0, "two": 1.0}
    assert [line["seconds"] for line in journal.lines] == [3.0, 1.0, 1.0]
    journal.share({}, 0.1)
    assert set(journal.stages) == {"one", "two"}

from tests.fuzz.targets import TARGETS
from tests.hardness.page import PAGE, page
from tests.hardness.record import read


def test_the_page_is_that_of_the_record() -> None:
    assert PAGE.read_text("utf-8") == page(read())


def test_every_reader_is_in_the_record_without_a_fault() -> None:
    readers = read()["fuzz"]["readers"]
    assert readers.keys() == TARGETS.keys()
    assert {name: one["faults"] for name, one in readers.items() if one["faults"]} == {}
    assert all(one["executions"] == sum(run["executions"] for run in one["runs"]) > 0 for one in readers.values())


def test_nothing_was_lost_by_a_kill() -> None:
    killed = read()["kills"]
    assert killed["lost"] == killed["left_over"] == killed["failed"] == []
    assert sum(killed["kills"].values()) > 0


def test_ten_trainings_with_one_config_gave_the_same_weights() -> None:
    repeated = read()["same"]
    assert repeated["trainings"] >= 10
    assert len(repeated["hashes"]) == 1

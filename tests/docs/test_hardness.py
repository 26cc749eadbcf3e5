import pytest

from tests.fuzz.targets import TARGETS
from tests.hardness.faults import ROOT, faults
from tests.hardness.page import PAGE, killed, page, survivors
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


def test_every_fault_was_tried_and_no_test_of_one_failed() -> None:
    tried = read()["faults"]["faults"]
    assert {name: one["kept"] for name, one in tried.items()} == {one["name"]: one["kept"] for one in faults()}
    assert all(one["passed"] > 0 == one["failed"] for one in tried.values()), tried


@pytest.mark.parametrize("test", [test for fault in faults() for test in fault["tests"]])
def test_the_tests_of_faults_are_there(test: str) -> None:
    path, _, name = test.partition("::")
    assert f"def {name}(" in (ROOT / path).read_text("utf-8") if name else (ROOT / path).is_file()


def test_at_least_85_percent_of_the_mutants_of_every_area_were_killed_and_the_others_have_a_reason() -> None:
    areas = read()["mutants"]["areas"]
    assert {area: killed(one) for area, one in areas.items() if killed(one) < 0.85} == {}
    assert {name for one in areas.values() for name in one["survived"]} == survivors().keys()
    assert all(len(why.split()) > 2 for why in survivors().values())


def test_all_tests_passed_with_the_oldest_libraries_and_with_a_newer_python() -> None:
    tried = read()["versions"]["environments"]
    assert [name for name, one in tried.items() if one["failed"] or not one["passed"]] == []
    assert any("oldest libraries" in name for name in tried)
    assert any("Python 3.13" in name for name in tried)

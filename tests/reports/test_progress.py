"""How far a run is, by a clock that is planted."""

import pytest

from reports.progress import Course

PLAN = [("score", 2.0), ("control: random weights", 4.0), ("page", 1.0)]


class Clock:
    """Seconds that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def course(clock: Clock) -> Course:
    """A run that has opened its texts in 1 s and has scored heads in 6: 3 s for a unit of work, 1 + 7 * 3 s in all."""
    found = Course(clock=clock)
    found.begin("open corpora")
    found.plan(PLAN)
    clock.now += 1
    found.begin("score")
    clock.now += 6
    found.begin("control: random weights")
    return found


def test_what_is_to_come_takes_as_long_for_its_work_as_what_is_done(course: Course, clock: Clock) -> None:
    assert course.total == 22
    clock.now += 5
    assert course.total == 22
    assert course.line() == "stage 3 of 4: control: random weights · 12 of 22 s · next: page"


def test_a_stage_that_is_slower_than_planned_takes_longer_by_what_is_counted_or_by_its_seconds(
    course: Course, clock: Clock
) -> None:
    clock.now += 10
    course("texts", 30, 60)
    assert course.total == 1 + 6 + 20 + 3
    course("texts", 10, 60)
    assert course.total == 22, "too few are counted yet"
    clock.now += 20
    assert course.total == 1 + 6 + 30 + 3


def test_counts_are_those_of_the_stage_and_are_passed_on(clock: Clock) -> None:
    told: list[tuple[object, ...]] = []
    course = Course(lambda *step: told.append(step), clock)
    course.plan(PLAN)
    course.begin("score")
    course("texts", 1, 2, "loss 3")
    assert told == [("texts", 1, 2, "loss 3")]
    assert course.line() == "stage 1 of 3: score · 0 s · loss 3"
    clock.now += 4
    course.begin("page")
    assert course.line() == "stage 3 of 3: page · 4 of 6 s", "the note and the counts were those of the last stage"


def test_before_anything_is_done_only_the_seconds_so_far_are_known(clock: Clock) -> None:
    course = Course(clock=clock)
    assert course.line() == ""
    course.begin("open corpora")
    clock.now += 2.4
    assert (course.total, course.line()) == (None, "open corpora · 2 s")


def test_a_stage_that_is_not_planned_is_counted_and_one_that_is_left_out_takes_no_time(
    course: Course, clock: Clock
) -> None:
    course.begin("odd")
    assert course.line() == "stage 4 of 5: odd · 7 of 8 s · next: page", "6 s for 6 units"
    other = Course(clock=clock)
    other.plan(PLAN)
    other.begin("score")
    clock.now += 2
    other.begin("page")
    assert other.total == 3


@pytest.mark.parametrize("width", range(30, 81))
def test_the_line_has_room_for_counts_and_times_at_any_width(width: int, course: Course) -> None:
    line = course.line(width)
    assert len(line) <= width
    assert line.startswith("stage 3 of 4: c")
    assert " · 7 of 22 s" in line


@pytest.mark.parametrize(("work", "shown"), [(30.0, "1 of 3 min"), (29.0, "60 of 177 s")])
def test_times_are_in_minutes_where_the_whole_is_long(work: float, shown: str, clock: Clock) -> None:
    course = Course(clock=clock)
    course.plan([("score", 10.0), ("report", work - 10 + 0.5)])
    course.begin("score")
    clock.now += 60
    course.begin("report")
    assert shown in course.line()

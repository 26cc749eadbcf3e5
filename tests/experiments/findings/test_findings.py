"""Every finding is held against tables in which it is planted, and tables in which it is planted that it is not so."""

import importlib
import pkgutil

import pytest

import tests.experiments.findings as here
from experiments.reproduce.judge import judge
from experiments.reproduce.readings import CLAIM, get_reading
from experiments.reproduce.registry import all_findings
from experiments.run.config import load_config
from experiments.statements.finding import Measured, Missing
from experiments.statements.paper_sentence import InClaim
from experiments.statements.rule import ControlNumbers, LearnedRule
from probes import get_probe
from probes.scoring.score import applicable
from reports.statements.claim_record import ClaimRecord
from reports.statements.finding_record import NOT_REPRODUCED, REPRODUCED, WEAKER
from tests.experiments.findings.planted import in_claims, planted_run

NO_PAPERS = ("planted", "conftest")

MODULES = [module.name for module in pkgutil.iter_modules(here.__path__)]
FILES = [name for name in MODULES if not name.startswith("test_") and name not in NO_PAPERS]

PLANTED = {
    name: pair for file in FILES for name, pair in importlib.import_module(f"{here.__name__}.{file}").PLANTED.items()
}

MEASURED = [finding for finding in all_findings().values() if not finding.missing]

for one in MEASURED:
    if all(isinstance(statement.measure, InClaim) for statement in one.statements):
        PLANTED[one.id] = (in_claims(one, holds=True), in_claims(one, holds=False))


LONG = {
    "kobayashi-separators",
    "kobayashi-cancelling",
    "vig-middle-layers",
    "vig-distance",
    "voita-specialised-survive",
}
LONG |= {"voita-functions-kept", "michel-few-heads", "pande-several-roles"}
"Findings whose measure takes seconds."


@pytest.mark.parametrize(
    "finding",
    [pytest.param(one, marks=[pytest.mark.slow] * (one.id in LONG)) for one in MEASURED],
    ids=lambda finding: finding.id,
)
def test_a_planted_finding_is_found_and_its_opposite_is_not(finding):
    assert finding.id in PLANTED, f"tests/experiments/findings has no planted tables of {finding.id}"
    holds, fails = PLANTED[finding.id]
    found = judge(finding, finding.numbers(holds))
    assert found.verdict == (WEAKER if finding.weaker else REPRODUCED), found.why
    assert not [one for one in found.statements if one.verdict == "no number"], found.why
    assert judge(finding, finding.numbers(fails)).verdict == NOT_REPRODUCED


@pytest.mark.parametrize(("reading", "probe"), [("trees", "dependency"), ("coreference", "repetition")])
def test_what_is_said_of_the_best_offset_is_measured_against_offsets_alone(reading: str, probe: str):
    assert applicable(get_probe(probe), load_config(get_reading(reading).path).probes.baselines) == ["offset"]


LEARNED = [one for one in MEASURED if any(isinstance(said.rule, LearnedRule) for said in one.statements)]


@pytest.mark.parametrize(
    "finding",
    [pytest.param(one, marks=[pytest.mark.slow] * (one.id in LONG)) for one in LEARNED],
    ids=lambda finding: finding.id,
)
def test_a_learned_finding_is_lost_where_untrained_weights_have_the_same_numbers(finding):
    holds, fails = (finding.numbers(planted) for planted in PLANTED[finding.id])
    beaten = judge(finding, holds, controls=_controls(fails))
    assert beaten.verdict in (REPRODUCED, WEAKER), beaten.why
    assert judge(finding, holds, controls=_controls(holds)).verdict not in (REPRODUCED, WEAKER)
    assert judge(finding, holds, controls={}).verdict not in (REPRODUCED, WEAKER)


def _controls(numbers):
    """Return numbers as those of both kinds of untrained weights, the same in three seeds."""
    found = {}
    for name, one in numbers.items():
        known, absent = ((one.decides,) * 3, 0) if isinstance(one, Measured) else ((), 3 * one.absent)
        found[name] = dict.fromkeys(("random", "permuted"), ControlNumbers(known, 3, absent))
    return found


@pytest.mark.parametrize(
    "finding",
    [one for one in MEASURED if one.figure and not isinstance(one.statements[0].measure, InClaim)],
    ids=lambda finding: finding.id,
)
def test_a_finding_is_drawn_from_planted_tables(finding):
    drawn = finding.figure(PLANTED[finding.id][0])
    assert any(drawn.points.values()) or drawn.matrix
    assert len(drawn.rows) == len(drawn.matrix), "every row has its name"


@pytest.mark.parametrize("finding", MEASURED, ids=lambda finding: finding.id)
def test_where_nothing_was_measured_no_statement_has_a_number(finding):
    nothing = {
        name: ClaimRecord((), (), record={"claim": name}) if name.startswith(CLAIM) else planted_run()
        for name in finding.readings
    }
    numbers = finding.numbers(nothing)
    assert {one.name for one in finding.statements} == set(numbers)
    assert all(isinstance(one, Missing) and one.why for one in numbers.values()), numbers


def test_the_readings_of_all_findings_are_there_and_nothing_is_planted_that_is_no_finding():
    assert all(get_reading(name).path.is_file() for finding in MEASURED for name in finding.readings)
    assert not set(PLANTED) - set(all_findings())

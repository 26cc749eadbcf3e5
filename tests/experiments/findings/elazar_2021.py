from experiments.findings.elazar_2021 import FINDINGS, LABELS, STARTS, TAGS
from experiments.statements.finding import Measured, Missing
from tests.experiments.findings.planted import planted_run


def _removed(probes, effects, lost):
    rows = []
    for name, probe, effect, less in zip((TAGS, LABELS, STARTS), probes, effects, lost, strict=True):
        row = {"property": name, "directions": 90, "majority": 0.2, "left": 0.21, "intact": 0.95, "n": 900}
        row |= {"amnesic": 0.95 - less, "random": 0.95 - less + effect}
        for column, value in (("accuracy", probe), ("effect", effect), ("lost", less)):
            row |= {column: value, f"{column}_low": value - 0.005, f"{column}_high": value + 0.005}
        rows.append(row)
    return {"probing": planted_run(amnesic=rows)}


NEEDED = _removed((0.92, 0.76, 0.85), (0.3, 0.1, 0.0), (0.35, 0.85, 0.01))
SPARED = _removed((0.92, 0.76, 0.85), (-0.1, -0.1, 0.2), (0.6, 0.1, 0.3))

PLANTED = {"elazar-properties-used": (NEEDED, SPARED), "elazar-probes-do-not-tell": (NEEDED, SPARED)}


def test_a_property_that_a_probe_still_finds_was_not_removed():
    for left, measured in ((0.219, True), (0.23, False)):
        table = NEEDED["probing"].tables["amnesic"].assign(left=left)
        found = FINDINGS[0].numbers({"probing": planted_run(amnesic=table.to_dict("records"))})
        assert all(isinstance(one, Measured) == measured for one in found.values())


def test_more_is_lost_counts_only_where_probes_tell_less():
    found = FINDINGS[1].numbers(NEEDED)["dependency labels"]
    assert isinstance(found, Measured)
    assert round(found.decides.value, 9) == 0.5
    other = FINDINGS[1].numbers(_removed((0.7, 0.76, 0.85), (0.3, 0.1, 0.0), (0.35, 0.85, 0.01)))
    assert isinstance(other["dependency labels"], Missing)

from probes import get_probe
from reports.scores.taxonomy import CANONICAL, canonical


def test_roles_have_the_names_of_the_convention() -> None:
    assert canonical("position", "previous", "other words") == "Previous-Token Head"
    assert canonical("repetition", "function", "same word") == "Duplicate-Token Head"
    assert canonical("coreference", "any", "all mention heads") == "Coreference Head"


def test_roles_without_a_name_have_none() -> None:
    assert canonical("position", "next", "other words") == ""
    assert canonical("dependency", "obj", "dependent->head") == ""


def test_every_probe_that_is_named_exists() -> None:
    assert all(get_probe(probe) for probe, _ in CANONICAL)

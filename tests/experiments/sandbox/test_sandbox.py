"""The sandbox: heads are planted as told, and the study from end to end."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.sandbox import study
from experiments.sandbox.population import BYSTANDERS, MARGINS, ROLES, STRONGEST, Sandbox, head_of
from experiments.sandbox.study import CHECKED_MARGIN, SandboxStudy, Scale, StudyError, run_study
from experiments.sandbox.whole_runs import TREEBANKS, planted_by_weights
from mha.planted.heads import BY_WEIGHTS
from probes import Corpus
from probes.evidence.planted import Follows, Knows
from reports.statements.sandbox_record import kind
from reports.statements.sandbox_text import NULLS, RATES

pytestmark = pytest.mark.slow

TINY = Scale(
    runs=3,
    power_runs=3,
    population=8,
    documents=(5, 8),
    null_documents=(6,),
    drawings=1,
    whole_runs=1,
    null_runs=0,
    null_sentences=0,
)


# --- the population


@pytest.fixture(scope="module")
def box() -> Sandbox:
    return Sandbox.build(60, seed=0)


def test_planted_heads_have_the_margins_that_were_wanted(box: Sandbox) -> None:
    """Within four standard errors of what is drawn item by item, which for the previous word is less than 0.03."""
    pool = box.pool()
    for (role, grade, margin), head in box.layout.planted.items():
        question = ROLES[role]
        kept = pool.columns([*box.layout.bystanders, head])
        n, true = kept.heads[question].n.sum(), kept.truth(question)
        accuracy = true.accuracy[-1]
        error = (accuracy * (1 - accuracy) / n) ** 0.5
        assert abs(true.leads[grade - 1, -1] - margin) < 4 * error, (role, grade, margin)
        if role == "previous word":
            assert 4 * error < 0.03


def test_heads_of_all_kinds_have_places_of_their_own(box: Sandbox) -> None:
    layout = box.layout
    every = {(role, 1, margin) for role in ROLES for margin in MARGINS}
    assert every - {*layout.planted} == {("antecedent", 1, 0.3)}  # the same head word is right in 7 of 10 cases
    assert all(layout.roles[head].strength <= STRONGEST for head in layout.planted.values())
    numbers = [*layout.bystanders, *layout.planted.values(), *layout.decoys]
    assert numbers == list(range(len(numbers)))
    assert len(layout.bystanders) == BYSTANDERS
    assert {type(layout.roles[head]) for head in layout.planted.values()} == {Knows}
    assert {type(layout.roles[head]) for head in layout.decoys} == {Follows}
    assert len({role.seed for role in layout.roles.values()}) == len(layout.roles)
    assert set(layout.by_head) == {head_of(number) for number in layout.roles}


def test_decoys_follow_the_offsets_that_the_corpus_has(box: Sandbox) -> None:
    """As the baseline learns them: a decoy that always follows is as good as it is."""
    offsets = box.offsets()
    assert offsets["det"] > 0 > offsets["obj"]
    faithful = {role.offset for role in box.layout.roles.values() if isinstance(role, Follows) and role.strength == 1}
    assert faithful == set(offsets.values())


def test_where_right_answers_are_random_nobody_knows_them(box: Sandbox) -> None:
    """Heads that are right in half of the cases and more, and of a random word of a sentence in one of ten."""
    small = replace(box, corpus=Corpus.generated(12, seed=0), documents=12)
    real, random = small.pool(), small.random_pool(2)
    assert random.documents == 24
    assert set(random.heads) >= set(ROLES.values())
    for role in ("subject of the verb", "object's verb"):
        head, question = box.layout.planted[role, 1, 0.3], ROLES[role]
        assert real.truth(question).accuracy[head] > 0.5
        assert random.truth(question).accuracy[head] < 0.25
        assert random.heads[question].n.sum() == 2 * real.heads[question].n.sum()


# --- the study


def no_page(folder: Path, step: object) -> Path:
    page = folder / "index.html"
    page.write_text((folder / "sandbox.json").read_text(encoding="utf-8")[:10], encoding="utf-8")
    return page


def quiet(what: str, done: int, of: int) -> None:
    pass


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], dict[str, Any]]:
    """Return the function that does a tiny study with so many workers and returns its record.

    What no worker has a part in, the large pass and the heads that are planted by weights, is made once.
    """
    built, by_weights = cache(Sandbox.build), cache(planted_by_weights)
    pooled = cache(lambda documents, seed: built(documents, seed).pool())

    def do(workers: int) -> dict[str, Any]:
        out = tmp_path_factory.mktemp("study") / "deep" / "sandbox"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(study, "write_sandbox_page", no_page)
            patch.setattr(study, "CHECKED_DOCUMENTS", 6)
            patch.setattr(study, "planted_by_weights", by_weights)
            patch.setattr(SandboxStudy, "box", property(lambda self: built(self.scale.population, self.seed)))
            patch.setattr(SandboxStudy, "pool", property(lambda self: pooled(self.scale.population, self.seed)))
            page = run_study(out, TINY, seed=3, workers=workers, progress=quiet)
        assert page == out / "index.html"
        assert page.is_file()
        assert [path.name for path in out.parent.iterdir()] == ["sandbox"]
        return json.loads((out / "sandbox.json").read_text(encoding="utf-8"))

    return do


@pytest.fixture(scope="module")
def record(studied: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    return studied(1)


def test_the_record_has_every_part_of_the_study(record: dict[str, Any]) -> None:
    assert (record["seed"], record["workers"], record["scale"]["runs"]) == (3, 1, 3)
    assert record["population"]["documents"] == 8
    planted = {(row["role"], row["grade"], row["margin"]) for row in record["population"]["planted"]}
    assert planted <= {(role, grade, margin) for role in ROLES for grade in (1, 2, 3) for margin in MARGINS}
    assert {role for role, grade, margin in planted if (grade, margin) == (1, 0.05)} == {*ROLES}
    power = {(row["role"], row["grade"], row["margin"], row["documents"]) for row in record["power"]}
    assert power == {(*place, size) for place in planted for size in TINY.documents}
    assert len(record["power"]) == len(power)
    assert {row["runs"] for row in record["power"]} == {3}
    border = ("all at the margin", "unequal lengths", "better in short documents")
    nulls = [
        *("random weights", "permuted gold", "offset decoys"),
        *("one head at the margin", "one head, permuted gold"),
        *(f"grade {grade}, {place}" for grade in (1, 2, 3) for place in border),
        *("heads and controls alike", "rarely correct", "wrong in whole documents"),
    ]
    assert [(row["null"], row["documents"], row["runs"]) for row in record["false"]] == [(name, 6, 3) for name in nulls]
    assert {*NULLS} == {*nulls, *(f"{corpus}, all at the margin" for corpus in TREEBANKS)}, "the page says what each is"
    rates = {kind(name) for row in record["false"] for name in row["rates"]}
    assert rates == {*RATES}
    assert all(np.isfinite(row["coverage"]["margin"]["rate"]) for row in record["false"])
    assert [row["place"] for row in record["weights"]] == [*BY_WEIGHTS]
    checked = [role for role in ROLES if (role, 1, CHECKED_MARGIN) in planted]
    assert [(row["role"], row["documents"], row["runs"]) for row in record["whole"]] == [
        (role, 6, 1) for role in checked
    ]
    assert len(checked) >= 3
    assert record["null_runs"] == []
    assert len(record["needed"]) == len(MARGINS) * 2
    assert len(record["stages"]) == 5, "no corpus for models without knowledge"


def test_the_record_tells_the_heads_that_were_planted(record: dict[str, Any]) -> None:
    """Accuracy at the power cells is that of the population, and the estimates of runs lie around it."""
    planted = {(row["role"], row["grade"], row["margin"]): row for row in record["population"]["planted"]}
    for row in record["power"]:
        one = planted[row["role"], row["grade"], row["margin"]]
        assert (row["true_accuracy"], row["true_margin"]) == (one["true_accuracy"], one["true_margin"])
        assert row["items"] == pytest.approx(one["items_a_document"] * row["documents"], rel=0.5)
        assert row["estimate"]["mean"] == pytest.approx(one["true_accuracy"], abs=0.2)
    for role in ROLES:
        strengths = [planted[role, 1, margin]["strength"] for margin in MARGINS if (role, 1, margin) in planted]
        assert strengths == sorted(strengths)


def test_numbers_do_not_depend_on_workers(studied: Callable[[int], dict[str, Any]], record: dict[str, Any]) -> None:
    other = studied(2)
    for part in ("power", "false", "whole", "needed"):
        assert json.dumps(other[part]) == json.dumps(record[part]), part


# --- the folder


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_is_no_study_is_never_replaced(
    kind: str, tmp_path: Path, headscope: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And that is said before anything is computed."""
    monkeypatch.setattr(study, "SandboxStudy", lambda *anything: pytest.fail("began"))
    mine = tmp_path / "mine"
    if kind == "folder":
        mine.mkdir()
        (mine / "thesis.tex").write_text("mine")
    else:
        mine.write_text("mine")
    with pytest.raises(StudyError):
        run_study(mine, TINY, seed=0, workers=1, progress=quiet)
    said = headscope("sandbox", "--quick", "--out", mine)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"headscope: {mine} exists and is not the folder of a sandbox; choose another --out\n"
    assert (mine / "thesis.tex" if kind == "folder" else mine).read_text() == "mine"

import json
from pathlib import Path

import pytest

from experiments.commands.listing import EMBEDDED, LISTS, ListError, listed, print_list
from mha.models.folders import NAMED as MODELS
from probes import get_probe, probe_names
from probes.corpora.corpus import NAMED as CORPORA
from probes.pairs.corpora import GENERATED_PAIRS
from probes.pairs.corpora import NAMED_PAIRS as PAIRS
from probes.training.texts import NAMED_TEXTS

OPTIONAL = ("readings", "missing", "verdicts", "counted", "uncounted", "group")
"What rows of a list may leave empty, or have another type than text."


@pytest.mark.parametrize("what", LISTS)
def test_json_and_table_tell_the_same_names(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_list(listed(what), as_json=True)
    rows = json.loads(capsys.readouterr().out)
    print_list(listed(what), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert rows
    assert [next(iter(row.values())) for row in rows] == [line for line in lines if line and not line.startswith(" ")]
    assert len({tuple(row) for row in rows}) == 1, "every row has the same keys"
    told = [(key, value) for row in rows for key, value in row.items() if key not in OPTIONAL]
    assert all(isinstance(value, str) and value for _, value in told)


def test_every_probe_is_listed_with_its_variants_and_source() -> None:
    rows = {row["name"]: row for row in LISTS["probes"]()}
    assert list(rows) == probe_names()
    for name, row in rows.items():
        assert row["variants"].split(", ") == list(get_probe(name).variants)
        assert row["source"] == get_probe(name).source
        assert row["controls"].split(", ") == list(get_probe(name).controls)


def test_every_probe_says_in_which_corpora_it_finds_questions_and_how_to_read_its_numbers() -> None:
    rows = {row["name"]: row for row in LISTS["probes"]()}
    pud = "pud-english, pud-german, pud-spanish, pud-russian, pud-finnish, pud-turkish, pud-chinese"
    trees = f"ewt-train, ewt-dev, gum-train, gum-dev, {pud}, or a CoNLL-U file with trees"
    assert rows["negation"]["corpora"] == f"grammar, {trees}"
    numbers = trees.replace(", pud-chinese", "") + " and the number of verbs"
    assert rows["agreement"]["corpora"] == f"grammar, agreement, {numbers}"
    with_coreference = "grammar, gum-train, gum-dev, litbank"
    assert rows["coreference"]["corpora"] == f"{with_coreference}, or a file with coreference"
    assert rows["antecedent"]["corpora"].startswith(
        f"{with_coreference}, gap, winogender, or a file with coreference or"
    )
    assert rows["distractors"]["corpora"].startswith(
        "grammar, gum-train, gum-dev, opensesame-groups, or a CoNLL-U file"
    )
    assert rows["sense"]["corpora"] == "senses"
    assert rows["position"]["corpora"] == rows["rare"]["corpora"] == "any"
    assert rows["rare"]["needs"].startswith("a list of word frequencies")
    assert {row["range"] for row in rows.values()} == {"accuracy, mass and share from 0 to 1"}
    assert all(row["direction"].startswith("higher") for row in rows.values())


def test_corpora_say_where_they_lie_or_that_they_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_DATA", str(tmp_path))
    file = tmp_path / CORPORA["ewt-dev"].path
    file.parent.mkdir()
    file.touch()
    at = {row["name"]: row["at"] for row in LISTS["corpora"]()}
    assert list(at) == [*EMBEDDED, *CORPORA, *PAIRS, *NAMED_TEXTS]
    assert {at[name] for name in EMBEDDED} == {"embedded"}
    assert set(GENERATED_PAIRS) < set(EMBEDDED)
    assert at["ewt-dev"] == str(file)
    (tmp_path / "blimp").mkdir()
    pairs = {row["name"]: row["at"] for row in LISTS["corpora"]() if row["name"] in PAIRS}
    assert pairs["blimp"] == str(tmp_path / "blimp")
    assert pairs["linzen"] == f"missing: {PAIRS['linzen'].path} under HEADSCOPE_DATA"
    assert at["gum-dev"] == f"missing: {CORPORA['gum-dev'].path} under HEADSCOPE_DATA"


def test_every_corpus_has_a_licence_and_an_owner() -> None:
    rows = LISTS["corpora"]()
    assert len({row["name"] for row in rows}) == len(rows)
    said = {row["name"]: (row["licence"], row["source"]) for row in rows}
    assert said["litbank"] == ("CC BY 4.0", "Bamman et al. 2020, github.com/dbamman/litbank")
    assert said["gap"][0] == "Apache-2.0"
    assert said["winogender"][0] == "MIT"
    known = ("20", "github.com/", "headscope", "SOURCE.txt")
    assert all(any(part in source for part in known) for _, source in said.values())


def test_models_with_a_short_name_are_listed_and_the_other_kinds_named() -> None:
    names = [row["name"] for row in LISTS["models"]()]
    assert names[:-1] == list(MODELS)
    assert "FOLDER" in names[-1]


def test_findings_are_listed_with_the_verdicts_and_runs_that_are_published(monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.reproduce import summary

    verdict = {"minilm": {"verdict": "reproduced", "why": "", "runs": {"trees": "ab12"}}}
    monkeypatch.setattr(summary, "published_verdicts", lambda: {"htut-relations": verdict})
    rows = {row["id"]: row for row in LISTS["findings"]()}
    assert rows["htut-relations"]["verdicts"] == verdict
    assert rows["htut-relations"]["paper"] == "Htut, Phang, Bordia and Bowman 2019"
    assert rows["htut-no-generalist"]["verdicts"] == {}


def test_verdicts_are_one_line_of_the_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"id": "x", "verdicts": {"minilm": {"verdict": "differs"}, "random": {"verdict": "not reproduced"}}}
    monkeypatch.setitem(LISTS, "findings", lambda: [found])
    print_list(listed("findings"), as_json=False)
    assert "minilm: differs; random: not reproduced" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("what", "hint"), [("probe", "did you mean 'probes'"), ("heads", "known are probes, corpora")])
def test_another_list_is_refused_with_those_that_exist(what: str, hint: str) -> None:
    with pytest.raises(ListError, match=f"no list of '{what}'; {hint}"):
        listed(what)


def test_the_table_shows_names_as_they_are(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"name": "[odd] name", "at": "file:100: [red] :smile:"}
    monkeypatch.setitem(LISTS, "probes", lambda: [row])
    print_list(listed("probes"), as_json=False)
    assert " ".join(capsys.readouterr().out.split()) == "[odd] name at file:100: [red] :smile:"

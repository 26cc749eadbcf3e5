import json
from pathlib import Path

import pytest

from experiments.commands.listing import EMBEDDED, LISTS, SUBJECTS, ListError, listed, print_list
from probes.corpora.conllu import read_conllu
from probes.corpora.corpus import NAMED as CORPORA
from probes.pairs.corpora import GENERATED_PAIRS
from probes.pairs.corpora import NAMED_PAIRS as PAIRS
from probes.syntax.agreement import SubjectVerbAgreement
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


@pytest.mark.parametrize(
    ("what", "said"), [("", "name a list, such as 'headscope list probes'"), ("x", "no list of 'x'")]
)
def test_without_a_list_or_with_another_the_lists_are_named(what: str, said: str) -> None:
    with pytest.raises(ListError, match=f"^{said}; known are probes, corpora, models, findings$"):
        listed(what)


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


def test_the_table_shows_names_as_they_are(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"name": "[odd] name", "at": "file:100: [red] :smile:"}
    monkeypatch.setitem(LISTS, "probes", lambda: [row])
    print_list(listed("probes"), as_json=False)
    assert " ".join(capsys.readouterr().out.split()) == "[odd] name at file:100: [red] :smile:"


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_share_of_subjects_that_agreement_asks_about_is_that_of_the_list(name: str, data_folder: Path) -> None:
    left_out = subjects = 0
    for document in read_conllu(data_folder / CORPORA[name].path):
        for text in document.split_sentences():
            left_out += len([*SubjectVerbAgreement().left_out(text)])
            subjects += len({head for _, head in text.arcs("nsubj")})
    assert 100 * (1 - left_out / subjects) == pytest.approx(SUBJECTS[name], abs=0.5)

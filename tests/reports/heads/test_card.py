"""A head's card says what the tables of the run say of that head, and no more."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from reports import Run
from reports.formats import percent, signed, signed_interval
from reports.heads.card import HeadCard, head_cards
from reports.heads.card_parts import CardSource


@pytest.fixture(scope="module")
def run(written_run: Path, head_tables: dict[str, pd.DataFrame]) -> Run:
    return replace(Run.open(written_run), tables=head_tables)


@pytest.fixture(scope="module")
def specialist(run: Run) -> pd.Series:
    """The row of the head that is chosen and specialised in det (dependent->head)."""
    rows = run.scores[(run.scores["label"] == "det") & (run.scores["variant"] == "dependent->head")]
    return rows[(rows["grade"] > 0) & rows["selected"] & (rows["split"] == "report")].iloc[0]


def part(card: HeadCard, title: str) -> tuple[tuple[str, ...], ...]:
    return next(one.rows for one in card.parts if one.title == title)


def test_the_roles_are_the_labels_in_which_the_head_is_specialised_or_chosen(run: Run, specialist: pd.Series):
    name = specialist["name"]
    shown = part(run.head(name), "Roles")
    report = run.scores[(run.scores["name"] == name) & (run.scores["split"] == "report")]
    noted = report[((report["grade"] > 0) | report["selected"]) & report["margin_low"].notna()]
    noted = noted[noted["probe"] != "classifier"]
    assert {row[5:7] for row in shown} == {(f"{row.probe}: {row.label}", row.variant) for row in noted.itertuples()}
    det = next(row for row in shown if row[0] == "from an article or other determiner to its noun")
    assert det[1] == percent(specialist["accuracy"])
    margin = signed(specialist["margin"]), signed_interval(specialist["margin_low"], specialist["margin_high"])
    rival = f"{percent(specialist['baseline_accuracy'])} (random weights)"
    assert det[3:5] == (rival, "yes")
    assert det[5:] == ("dependency: det", "dependent->head", *margin, "grade 2: beyond words, selected")
    assert [row[4] for row in shown] == sorted((row[4] for row in shown), reverse=True), "significant ones first"
    assert all((row[4] == "yes") == row[9].startswith("grade") for row in shown)


def test_roles_of_language_stand_before_positions_with_a_surer_margin_and_what_is_not_significant_last(run: Run):
    kept = run.scores[(run.scores["name"] == "1-1") & (run.scores["split"] == "report") & run.scores["margin"].notna()]
    kept = kept[kept["probe"].isin(["dependency", "position"])].drop_duplicates("probe")
    place = kept[kept["probe"] == "position"].assign(label="place", margin_low=0.9, grade=1, holds=1.0)
    role = kept[kept["probe"] == "dependency"].assign(label="role", margin_low=0.1, grade=1, holds=1.0)
    other = role.assign(label="other", margin_low=0.8, grade=0, selected=True, p_adjusted=float("nan"))
    made = head_cards(CardSource(replace(run, scores=pd.concat([place, role, other], ignore_index=True))))
    labels = [row[5] for row in part(made[0], "Roles")]
    assert labels == ["dependency: role", "position: place", "dependency: other"]
    assert made[0].parts[0].sentences[0].startswith("Significant in 2 of 2 labels and directions;")


def test_relations_to_other_heads_are_read_from_both_ends_of_a_pair(run: Run):
    card = run.head("2-1")
    shown = part(card, "Nearest heads")
    assert shown[:2] == (("2-2", "0.10", "any label"), ("1-2", "0.20", "object"))
    assert len(shown) == 3, "the other head is further away"
    assert "Group 2 of 2, with 2 other heads: 1-3, 2-2." in str(card)
    assert part(run.head("1-1"), "Subspaces")[0] == ("what it reads (W_V), overlap", "0.35", "0.08", "2-2 (0.60)")
    assert part(run.head("1-2"), "Ensembles") == (
        ("from an object to its verb", "1-1 1-2", "60.0", "+5.0", "[+1.0, +9.0]"),
    )
    assert "Ensembles" not in str(run.head("2-2")), "that of three heads was not the selected one"


def test_every_form_escapes_and_says_the_same(run: Run, hostile: str):
    rows = run.scores[(run.scores["label"] == hostile) & run.scores["selected"] & (run.scores["split"] == "report")]
    card = run.head(rows["name"].iloc[0])
    assert hostile in str(card)
    assert hostile not in card._repr_html_()
    assert '&lt;b>&amp;"\\|' in card._repr_markdown_()
    for form in (str(card), card._repr_html_(), card._repr_markdown_()):
        assert card.title in form
        assert "nan" not in form


def test_tables_of_shapes_weights_and_classifiers_make_parts_where_they_are_there(run: Run):
    head = {"layer": 0, "head": 1, "name": "1-2"}
    about = {"split": "report", "scope": "sentence", "ci_low": 0.1, "ci_high": 0.3, "even": 0.05, "p_adjusted": 0.01}
    measured = [("attention", "[SEP]", 0.2), ("offset", "-1", 0.6), ("offset", "+1", 0.1), ("class", "diagonal", 0.7)]
    measured += [("class", "block", 0.2), ("sieve", "local", 3.4)]
    names = ("kind", "measure", "value")
    circuit = {"kernel_offset": -1, "kernel_attention": 0.75, "copying": -0.25, "write_norm": 1.5}
    trained = {"task": "number", "label": "all", "accuracy": 0.9, "control_accuracy": 0.6, "selectivity": 0.3}
    trained |= {"selectivity_low": 0.2, "selectivity_high": 0.4, "selected": True}
    tables = {
        "shapes": pd.DataFrame([head | about | dict(zip(names, one, strict=True)) for one in measured]),
        "circuits": pd.DataFrame([head | circuit]),
        "classifiers": pd.DataFrame([head | trained]),
    }
    card = replace(run, tables=tables).head("1-2")
    assert part(card, "Attention statistics") == (
        ("attention to [SEP], %", "20.0", "[10.0, 30.0]", "5.0"),
        ("most attended offset: -1, %", "60.0", "[10.0, 30.0]", "5.0"),
        ("most frequent class: diagonal, % of texts", "70.0", "[10.0, 30.0]", "5.0"),
    )
    assert "Significantly biased to: local." in str(card)
    assert "its favourite offset is −1" in str(card)
    assert ("copying score", "−0.25") in part(card, "From its weights alone")
    shown = ("number", "all", "90.0", "60.0", "+30.0", "[+20.0, +40.0]", "selected")
    assert part(card, "Trained classifiers") == (shown,)

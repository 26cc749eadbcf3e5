from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.classifiers.figure import save_classifiers
from reports.studies.classifiers.section import Classifiers, classifiers
from reports.studies.classifiers.terms import CLASSIFIERS
from reports.tables.text_table import TextTable

NAN = float("nan")
ABOUT = {"model": "minilm", "step": pd.NA, "corpus": "ewt-dev"}


def head(task: str, label: str, name: str, accuracy: float, selectivity: float, **more: object) -> dict[str, object]:
    layer, number = (int(part) - 1 for part in name.split("-"))
    row = ABOUT | {"task": task, "label": label, "layer": layer, "head": number, "name": name, "selected": True}
    row |= {"classes": 3, "n_select": 2000, "n": 1500, "clusters": 40, "accuracy": accuracy}
    row |= {"ci_low": accuracy - 0.02, "ci_high": accuracy + 0.02, "control_accuracy": accuracy - selectivity}
    row |= {"selectivity": selectivity, "selectivity_low": selectivity - 0.03, "selectivity_high": selectivity + 0.03}
    row |= {
        "codelength": 1000.0,
        "compression": 3.17,
        "control_compression": 1.02,
        "majority": 0.3,
        "control_majority": 0.32,
    }
    row |= {"embedding_accuracy": 0.55, "embedding_selectivity": -0.2, "random_accuracy": 0.35}
    lead = accuracy - row["embedding_accuracy"]
    row |= {"embedding_lead": lead, "embedding_lead_low": lead - 0.03, "embedding_lead_high": lead + 0.03}
    return row | {"embedding_p": 0.001 if lead > 0.03 else 0.4, "random_selectivity": 0.05} | more


def tables(hostile: str) -> dict[str, pd.DataFrame]:
    none = {f"{kind}_{what}": NAN for kind in ("embedding", "random") for what in ("accuracy", "selectivity")}
    none |= dict.fromkeys(("embedding_lead", "embedding_lead_low", "embedding_lead_high", "embedding_p"), NAN)
    heads = [
        head("part of speech", "all", "2-3", 0.6, 0.2),
        head("part of speech", "all", "2-4", 0.5, 0.1, selected=False),
        head("coreference", "all", "4-1", 0.52, 0.01, clusters=7),
        *(head("arc: dependency/dependent->head", f"rel{i}", "1-1", 0.7, 0.2, **none) for i in range(15)),
        head("arc: dependency/dependent->head", hostile, "1-2", 0.8, 0.3, **none),
    ]
    layers = []
    for task, course, solved in (("coreference", (0.5, 0.5, 0.6), 2.0), (hostile, (0.4, 0.6, 0.6), 1.0)):
        for layer, value in enumerate(course):
            row = ABOUT | {"task": task, "layer": layer, "n": 1500, "clusters": 40, "accuracy": value - 0.1}
            row |= {"ci_low": value - 0.15, "ci_high": value - 0.05, "cumulative": value}
            row |= {"control_accuracy": value - 0.2, "selectivity": 0.1, "cumulative_selectivity": 0.3}
            row |= {"selectivity_low": 0.05, "selectivity_high": 0.15}
            row |= {"gain": NAN if layer == 0 else value - course[layer - 1], "expected_layer": solved}
            low, high = (NAN, NAN) if solved == 1 else (1.9, 2.0)
            layers.append(row | {"expected_low": low, "expected_high": high})
    parsers = []
    for parser, weights, uas in (
        ("next word (right-branching)", "none", 0.34),
        ("attention", "trained", 0.6),
        ("attention", "random", 0.41),
        ("attention + words", "trained", 0.35),
    ):
        row = ABOUT | {"parser": parser, "weights": weights, "parameters": 1000, "n_select": 9000, "n": 8000}
        row |= {"clusters": 40, "uas": uas, "ci_low": uas - 0.01, "ci_high": uas + 0.01, "margin": uas - 0.34}
        row |= {"control_uas": uas - 0.1, "selectivity": 0.1, "selectivity_low": 0.07, "selectivity_high": 0.13}
        parsers.append(row | {"margin_low": uas - 0.36, "margin_high": uas - 0.32})
    return {"classifiers": pd.DataFrame(heads), "layers": pd.DataFrame(layers), "parser": pd.DataFrame(parsers)}


@pytest.fixture
def found(run_folder: Path, hostile: str) -> Classifiers:
    write_measures(tables(hostile), run_folder)
    found = classifiers(Run.open(run_folder))
    assert found is not None
    return found


def titled(found: Classifiers, begin: str) -> TextTable:
    (table,) = (table for table in found.tables if table.title.startswith(begin))
    assert all(len(row) == len(table.columns) for row in table.rows)
    return table


def test_a_run_without_classifiers_has_no_section(written_run: Path, report: Path) -> None:
    assert classifiers(Run.open(written_run)) is None
    assert "Trained classifiers of heads" not in (report / "index.html").read_text("utf-8")
    assert "Trained classifiers of heads" not in (report / "report.md").read_text("utf-8")
    assert not (report / "figures" / "classifiers.png").exists()


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("classifiers", lambda frame: frame.assign(accuracy=52.0), r"`accuracy` lies outside \[0, 1\]"),
        (
            "classifiers",
            lambda frame: pd.concat([frame, frame[:1]]),
            "two rows have the same model, step, corpus, task",
        ),
        ("classifiers", lambda frame: frame.assign(name="9-9"), "`name` is not layer"),
        ("parser", lambda frame: frame.assign(uas=-0.5), "`uas` lies outside"),
        ("layers", lambda frame: frame.drop(columns="gain"), r"column\(s\) gain missing"),
    ],
)
def test_what_no_classifier_can_have_measured_is_refused(
    name: str, change: Callable[[pd.DataFrame], pd.DataFrame], complaint: str, tmp_path: Path, hostile: str
) -> None:
    with pytest.raises(ValueError, match=rf"{name}.parquet: {complaint}"):
        write_measures({name: change(tables(hostile)[name])}, tmp_path)


def test_every_task_is_shown_by_its_chosen_head_with_selectivity(found: Classifiers) -> None:
    rows = titled(found, "Accuracy of the best head").texts
    assert [row[:2] for row in rows] == [("part of speech", "2-3"), ("coreference", "4-1")]
    assert rows[0][3:] == (
        *("1,500", "60.0 [58.0, 62.0]", "40.0", "+20.0 [+17.0, +23.0]", "3.17", "1.02"),
        *("30.0", "32.0", "55.0 (−20.0)", "35.0 (+5.0)"),
    )
    assert rows[1][3].startswith("⚠")


def test_arcs_are_ordered_by_sure_selectivity_and_folded(found: Classifiers, hostile: str) -> None:
    table = titled(found, "Arcs")
    assert table.texts[0][:3] == (hostile, "dependency/dependent->head", "1-2")
    assert len(table) == 16


def test_layers_are_told_from_the_task_that_is_solved_first(found: Classifiers, hostile: str) -> None:
    rows = titled(found, "Accuracy with layers").texts
    assert rows == (
        (hostile, "1.00", "40.0 (+30.0)", "60.0 (+30.0)", "60.0 (+30.0)"),
        ("coreference", "2.00 [1.90, 2.00]", "50.0 (+30.0)", "50.0 (+30.0)", "60.0 (+30.0)"),
    )
    assert titled(found, "Accuracy with one layer").texts[0] == (
        hostile,
        "30.0 (+10.0)",
        "50.0 (+10.0)",
        "50.0 (+10.0)",
    )


def test_every_parser_is_shown_with_its_selectivity(found: Classifiers) -> None:
    rows = titled(found, "Parsers").texts
    assert rows[1] == (
        *("attention", "trained", "1,000", "8,000", "60.0 [59.0, 61.0]", "+26.0 [+24.0, +28.0]"),
        *("50.0", "+10.0 [+7.0, +13.0]"),
    )


def test_sentences_count_what_is_selective_and_compare_parsers(found: Classifiers) -> None:
    assert found.sentences[0].startswith("In 1 of 2 tasks the interval of the best head’s selectivity lies above 0.")
    assert (
        "A single head is significantly above the word’s embedding and the majority in part of speech."
        in found.sentences[0]
    )
    assert found.sentences[1].startswith("In 16 of 16 kinds of arcs")
    assert found.sentences[2:] == (
        "The parser that is given attention alone has a UAS of 60.0 %, significantly above that of the next word by "
        "+26.0 points [+24.0, +28.0]; with random weights it has 41.0 %.",
        "The parser that is given words as well has a UAS of 35.0 %, not significantly above that of the next word "
        "by +1.0 points [−1.0, +3.0].",
    )


@pytest.mark.slow
def test_the_page_shows_every_table_and_escapes_names(run_folder: Path, hostile: str) -> None:
    write_measures(tables(hostile), run_folder)
    folder = write_report(run_folder).parent
    page, text = ((folder / name).read_text("utf-8") for name in ("index.html", "report.md"))
    assert '<a href="#classifiers">' in page
    assert hostile not in page
    assert hostile not in text
    for term, definition in CLASSIFIERS:
        assert definition.split("“")[0] in page
        assert f"- **{term}**" in text
    lines = text[text.index("Accuracy of the best head for each task:") :].splitlines()
    header = next(line for line in lines if line.startswith("| task"))
    assert lines[lines.index(header) + 1].count("|") == header.count("|") == lines[lines.index(header) + 2].count("|")
    assert (folder / "figures" / "classifiers.pdf").is_file()


@pytest.mark.slow
@pytest.mark.figures
@pytest.mark.parametrize("kept", ["classifiers", "layers", "parser"])
def test_any_table_alone_can_be_told_and_drawn(kept: str, run_folder: Path, hostile: str) -> None:
    write_measures({kept: tables(hostile)[kept]}, run_folder)
    found = classifiers(Run.open(run_folder))
    assert found is not None
    assert found.tables
    assert save_classifiers(found, "minilm", run_folder) == ["classifiers"]
    assert (run_folder / "classifiers.png").stat().st_size > 5000


def test_arcs_alone_are_not_drawn(run_folder: Path, hostile: str) -> None:
    heads = tables(hostile)["classifiers"]
    write_measures({"classifiers": heads[heads.task.str.startswith("arc")]}, run_folder)
    found = classifiers(Run.open(run_folder))
    assert found is not None
    assert save_classifiers(found, "minilm", run_folder) == []
    assert [table.title for table in found.tables] == ["Arcs from a pair’s two attention values, coded online"]

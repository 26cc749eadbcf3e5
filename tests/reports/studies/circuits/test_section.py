from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.circuits.section import circuit_parts
from reports.studies.circuits.tables import CIRCUIT_TABLES

LAYERS, HEADS, REACH = 2, 3, 2
BOUNDED = sorted(
    {c.name for table in CIRCUIT_TABLES.values() for c in table.columns if c.bounds and c.dtype == "float64"}
)
NAMES = [f"{layer + 1}-{head + 1}" for layer in range(LAYERS) for head in range(HEADS)]


def circuit_tables() -> dict[str, pd.DataFrame]:
    """Tables of six heads, of which 1-2 looks back by weights and on text, and 2-3 by weights alone."""
    cell = np.arange(LAYERS * HEADS)
    places = {"layer": cell // HEADS, "head": cell % HEADS, "name": NAMES}
    kernel = np.array([0.2, 0.93, 0.3, 0.25, 0.4, 0.71])
    heads = pd.DataFrame(places).assign(
        **{"kernel_offset": -1, "kernel_attention": kernel, "same_word": 0.5, "related_words": 0.6},
        **{"copying": [0.8, 0.1, -0.9, 0, 0, np.nan], "positive_eigenvalues": 0.5, "own_word": 0.4},
        **{"text_offset": [0, -1, 0, 0, 0, 1], "text_attention": 0.6, "text_at_kernel": kernel / 2},
        **{"text_same_word": -0.02, "text_related": 0.1, "text_copying": 0.3, "write_norm": 1.25},
    )
    rows = pd.DataFrame(places).loc[np.repeat(cell, 2 * REACH + 1)].reset_index(drop=True)
    offsets = np.tile(np.arange(-REACH, REACH + 1), len(cell))
    kernels = rows.assign(offset=offsets, score=0.0, attention=0.2, text_attention=np.where(offsets, 0.1, np.nan))
    kernels.loc[(rows["name"] == "1-2") & (offsets == -1), "attention"] = 0.93
    relations = pd.DataFrame(places).assign(relation="plural", pairs=16, chance=0.0005)
    relations = relations.assign(static=[0, 0, 0.25, 0, 0, 0], suppressed=[0, 0, 0, 0.5, 0, 0], dynamic=0.125)
    links = pd.DataFrame(
        [
            ("", "kernel_attention", "text_at_kernel", 1.0, 0.9, 1.0, 6),
            ("", "copying", "text_copying", -0.2, -0.7, 0.4, 6),
            ("", "own_word", "text_copying", -0.6, -0.8, -0.3, 6),
            ("plural", "static", "dynamic", np.nan, np.nan, np.nan, 6),
        ],
        columns=["relation", "weights", "text", "rho", "low", "high", "heads"],
    )
    tables = {"circuits": heads, "circuit_kernels": kernels, "circuit_relations": relations, "circuit_links": links}
    return {
        name: frame.assign(model="minilm", step=pd.array([pd.NA] * len(frame), dtype="Int64"), corpus="dev")
        for name, frame in tables.items()
    }


def test_what_is_written_is_read_again_and_the_heads_lie_beside_as_csv(run_folder: Path) -> None:
    tables = circuit_tables()
    write_measures(tables, run_folder)
    found = Run.open(run_folder).studies
    for name, frame in tables.items():
        pd.testing.assert_frame_equal(found[name], frame[list(CIRCUIT_TABLES[name].names)], check_dtype=False)
    assert len(pd.read_csv(run_folder / "circuits.csv")) == LAYERS * HEADS
    (run_folder / "circuit_links.parquet").unlink()
    with pytest.raises(ValueError, match=r"circuit_links\.parquet: missing beside circuits\.parquet"):
        circuit_parts(Run.open(run_folder))


def test_a_run_that_did_not_ask_has_none(run_folder: Path) -> None:
    assert circuit_parts(Run.open(run_folder)) is None


@pytest.mark.parametrize("column", BOUNDED)
def test_numbers_that_no_weights_can_have_are_refused(column: str, tmp_path: Path) -> None:
    tables = circuit_tables()
    name = next(name for name, table in CIRCUIT_TABLES.items() if column in table.names)
    tables[name] = tables[name].assign(**{column: -2.5})
    with pytest.raises(ValueError, match=f"`{column}`"):
        write_measures(tables, tmp_path)


def test_wrong_names_and_two_rows_of_a_head_are_refused(tmp_path: Path) -> None:
    heads = circuit_tables()["circuits"]
    with pytest.raises(ValueError, match="`name` is not layer"):
        write_measures({"circuits": heads.assign(name="9-9")}, tmp_path)
    with pytest.raises(ValueError, match="two rows have the same model, step, layer, head"):
        write_measures({"circuits": pd.concat([heads, heads])}, tmp_path)


def test_the_section_counts_names_and_compares(run_folder: Path) -> None:
    write_measures(circuit_tables(), run_folder)
    parts = circuit_parts(Run.open(run_folder))
    assert parts is not None
    assert parts.sentences == (
        "From position embeddings alone, 2 of 6 heads give half of the attention or more to one offset: 1-2 (offset "
        "−1: 93.0 %, on text 46.5 %), 2-3 (offset −1: 71.0 %, on text 35.5 %). In 1 of them it is also the most "
        "attended offset on text.",
        "Heads with a copying score of 0.50 or more: 1; of −0.50 or less, which lower what they attend to: 1.",
        "Of 3 comparisons of weights alone with text 1 have a rank correlation whose interval lies above 0: attention "
        "to the preferred offset, by position embeddings with attention to that offset (1.00). In 1 it lies below 0: "
        "rank of a word’s effect on its own logit with correlation of output and attended logits (−0.60).",
    )
    relation = parts.relations.texts[0]
    assert relation[2:5] == ("1-3", "25.0", "12.5")
    assert (*relation[5:7], relation[-1]) == ("2-1", "50.0", "–")
    assert parts.reach == REACH
    (_, (_, kernel), *_) = parts.heads.page_rows[1]
    assert 'points="4,12.2 29,2.0 54,12.2 79,12.2 104,12.2"' in str(kernel.page)


@pytest.mark.slow
@pytest.mark.figures("circuits")
def test_both_pages_and_a_figure_have_the_section_and_its_numbers(run_folder: Path) -> None:
    write_measures(circuit_tables(), run_folder)
    page = write_report(run_folder)
    html, markdown = page.read_text(encoding="utf-8"), (page.parent / "report.md").read_text(encoding="utf-8")
    for text in (html, markdown):
        for said in (
            "Circuits from the weights alone",
            "93.0",
            "attention to the preferred offset, by position embeddings",
            "plural",
            "1.25",
        ):
            assert said in text
        section = text[text.index("From position embeddings alone") :]
        assert "nan" not in section[: section.index("Examples")].replace("dominant", "").lower()
    assert '<a href="#circuits">' in html
    assert "| 1-2 | −1 | 93.0 | 46.5 | −1 | 50.0 | −2.0 | 60.0 |\n" in markdown
    assert "| 1-2 | 0.10 | 0.10 | 50.0 | 40.0 | 0.30 | 1.25 |\n" in markdown
    assert "| plural | 16 | 1-3 | 25.0 | 12.5 | 2-1 | 50.0 | 0.05 |\n" in markdown
    assert "| plural | – | – |\n" in markdown
    for suffix in ("png", "pdf"):
        assert (page.parent / "figures" / f"circuits.{suffix}").stat().st_size > 1000


@pytest.mark.slow
def test_without_relations_there_is_no_table_of_them(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.page.page._saves", lambda contents, _: {part.name: {} for part in contents.probes})
    tables = circuit_tables()
    tables["circuit_relations"] = tables["circuit_relations"].head(0)
    tables["circuit_links"] = tables["circuit_links"].head(3)
    write_measures(tables, run_folder)
    assert "Relations between words" not in write_report(run_folder).read_text(encoding="utf-8")

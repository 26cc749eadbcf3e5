from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import Run, write_measures, write_report
from reports.studies.transfer.section import SHOWN, transferred
from reports.studies.transfer.tables import TRANSFER

RUN = {"model": "tiny", "step": pd.NA, "corpus": "sea"}


def rows(heads: int = 4, clusters: int = 60) -> pd.DataFrame:
    """The second head transfers 3 nats, the third -1, which is none, and the others hardly anything."""
    cell = np.arange(heads)
    transfer = np.select([cell == 1, cell == 2], [3.0, -1.0], 0.01 * cell)
    frame = pd.DataFrame({"layer": cell // 2, "head": cell % 2, "transfer": transfer, "over_mean": transfer / 2})
    names = (frame["layer"] + 1).astype(str) + "-" + (frame["head"] + 1).astype(str)
    frame = frame.assign(name=names, transfers=cell == 1, same=2 + transfer / 2, other=2 - transfer / 2, mean=2.0)
    ends = {f"{one}_{end}": frame[one] + by for one in ("transfer", "over_mean") for end, by in END}
    shares = {"accuracy_same": 1.0, "accuracy_other": 0.25, "accuracy_mean": 0.5, "points": 0.75}
    numbers = {"n": 80, "clusters": clusters, "matched": 0.75, "intact": 2.0, "accuracy": 0.95, **shares}
    tests = {"points_low": 0.7, "points_high": 0.8, "p": 0.01, "p_adjusted": 0.02, "p_over_mean": 0.03}
    return frame.assign(**RUN, behaviour="pairs", unit="nats between the two sentences", **ends, **numbers, **tests)


END = (("low", -0.5), ("high", 0.5))


def test_heads_are_in_the_order_of_what_they_transfer_and_the_sentences_name_them(run_folder: Path) -> None:
    write_measures({"transfer": rows(SHOWN + 5)}, run_folder)
    found = transferred(Run.open(run_folder))
    assert found is not None
    (one,) = found
    assert [head["name"] for head in one.heads[:2]] == ["1-2", "2-1"]
    assert len(one.heads) == SHOWN
    assert list(one.sentences) == [
        "80 sentences of 60 documents; for 75.0 % of them both donors have the same construction and as many "
        "attractors. The correct form is preferred in 95.0 % of sentences, by 2.00 nats on average.",
        "Of 17 heads 1 significantly transfer the number of the verb (in nats: 1-2 3.00).",
    ]


def test_the_table_is_read_as_it_was_written_and_a_folder_without_it_has_no_section(run_folder: Path) -> None:
    assert transferred(Run.open(run_folder)) is None
    write_measures({"transfer": rows()}, run_folder)
    read = Run.open(run_folder).studies["transfer"]
    expected = rows()[list(TRANSFER.names)].astype({"step": read["step"].dtype})
    pd.testing.assert_frame_equal(read, expected, check_dtype=False)
    write_measures({"transfer": rows().iloc[:0]}, run_folder)
    assert transferred(Run.open(run_folder)) is None


def test_few_documents_are_warned_of(run_folder: Path) -> None:
    write_measures({"transfer": rows(clusters=3)}, run_folder)
    found = transferred(Run.open(run_folder))
    assert found is not None
    assert found[0].sentences[0].startswith("⚠ Only 3 documents")


@pytest.mark.slow
def test_both_pages_tell_what_heads_transfer_and_what_that_cannot_show(run_folder: Path) -> None:
    write_measures({"transfer": rows()}, run_folder)
    write_report(run_folder)
    for page in ("index.html", "report.md"):
        text = (run_folder / "report" / page).read_text("utf-8")
        assert "Transfer of the answer to other sentences" in text
        assert "merely raise the forms of one number" in text
        assert "[2.50, 3.50]" in text


def test_a_model_of_which_no_head_transfers_is_told_so(run_folder: Path) -> None:
    write_measures({"transfer": rows().assign(transfers=False)}, run_folder)
    found = transferred(Run.open(run_folder))
    assert found is not None
    assert found[0].sentences[-1] == "Of 4 heads none significantly transfer the number of the verb."

"""The tutorial runs as it stands, on what comes with headscope."""

import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "tutorial.ipynb"


@pytest.mark.slow
def test_every_cell_of_the_tutorial_runs_and_shows_what_it_makes(tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output.get("data", {}) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("image/svg+xml" in data for data in shown) == 3
    assert sum("text/html" in data for data in shown) == 5
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    said = [output["text"] for output in outputs if output.get("name") == "stderr"]
    assert [text for text in said if "TqdmWarning: IProgress not found" not in text] == []  # without ipywidgets
    assert list(tmp_path.iterdir()) == []


def test_the_tutorial_is_kept_without_outputs_and_names_no_folder_of_a_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    assert "/home/" not in text
    assert "/tmp/" not in text

"""The table of measures by layer: a row a measure, a column a layer, nothing where nothing was measured."""

import pandas as pd

from reports.blocks.block import by_layer


def test_each_measure_has_a_row_and_each_layer_a_column() -> None:
    frame = pd.DataFrame(
        [
            ("trees", "rank correlation", 2, 0.5, 0.4, 0.6),
            ("trees", "rank correlation", 0, 0.25, 0.2, 0.3),
            ("length", "length", 2, -0.125, -0.2, 0.0),
        ],
        columns=["task", "measure", "depth", "value", "low", "high"],
    )
    table = by_layer("By layer", frame, ["task", "measure"], "depth")
    assert table.title == "By layer"
    assert table.titles == ("measure", "input", "layer 2")
    rows = {row[0]: row[1:] for row in table}
    assert rows == {
        "trees: rank correlation": ("0.25 [0.20, 0.30]", "0.50 [0.40, 0.60]"),
        "length": ("", "-0.12 [-0.20, 0.00]".replace("-", "−")),
    }

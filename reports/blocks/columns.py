"""What the columns of tables mean, for the end of a page."""

from __future__ import annotations

from collections.abc import Mapping

from reports.blocks.block import Block, Fold, Heading, Paragraph, Terms
from reports.tables.table import Table


def columns_fold(tables: Mapping[str, Table], of: str = "this run") -> Fold:
    """Return what the columns of tables mean, for the end of a page."""
    blocks: list[Block] = []
    for name, table in tables.items():
        pairs = [(column.name, column.meaning) for column in table.columns]
        blocks += [Heading(name), Paragraph(table.about), Terms(pairs, folded=False)]
    return Fold(f"Columns of the {len(tables)} tables of {of}", blocks)

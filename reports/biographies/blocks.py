"""The section of head biographies: what was found, curves over training, trajectories, and all heads step by step."""

from __future__ import annotations

from collections.abc import Iterator

from reports.biographies.charts import biography_charts
from reports.biographies.section import HeadBiographies
from reports.biographies.terms import TERMS
from reports.blocks.block import Block, Charts, Fold, Heading, Paragraph, Points, Raw, TableBlock, Terms
from reports.formats import count

STEP_BY_STEP = (
    "Layers as rows, heads as columns. Move the slider, or the arrow keys on it, through the checkpoints; point at a "
    "cell or move through the cells with the arrow keys for the numbers of a head. The framed head is the best one at "
    "that step."
)


def biography_blocks(lives: HeadBiographies) -> Iterator[Block]:
    """Yield what a page says of the biographies of a run's heads."""
    yield Points(lives.sentences)
    biography = "The biography of a head is its training trajectory: its roles at every checkpoint of a training run."
    yield Paragraph(biography, note=True)
    yield Terms(TERMS)
    yield Heading("Loss, behaviour and roles on one axis")
    yield Charts(biography_charts(lives))
    slider = "The dotted line is the step of the slider below; a click on a point of a curve moves it there."
    yield Paragraph(slider, note=True)
    if lives.onsets:
        yield TableBlock(lives.table("onsets"), sorts=True)
    if lives.agreement:
        yield Heading("From the subject to the verb and back")
        yield Points(lives.agreement.sentences)
        yield TableBlock(lives.table("followers"), sorts=True)
    yield Heading("Trajectories of the heads")
    yield TableBlock(lives.table("courses"))
    if len(lives.lives):
        every = TableBlock(lives.table("lives"), caption=False, sorts=True)
        yield Fold(f"Every head that had a role: {len(lives.lives)}", [every])
    if lives.matched:
        yield TableBlock(lives.table("matched"))
    left_out = f"The {count(lives.left_out)} label–direction pairs with the smallest margins are left out here; "
    yield Heading("All heads, step by step")
    yield Paragraph(STEP_BY_STEP + f" {left_out}biographies.parquet has them." * bool(lives.left_out))
    yield Raw("biographies", lives.slider)

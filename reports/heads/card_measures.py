"""The parts of a head's card that tell what else was measured of it: shape, weights, classifiers, training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reports.formats import MISSING, decimal, minus, percent, signed, signed_interval
from reports.heads.card_parts import MOST, CardPart, CardSource
from reports.tables.biographies import LIFE_SHOWN

SHAPES: Final[Mapping[tuple[str, str], str]] = {
    ("entropy", "all tokens"): "entropy of its rows, nats",
    ("entropy", "[CLS]"): "entropy of the row of [CLS], nats",
    ("confidence", "without [SEP]"): "confidence: mean of the largest weight, %",
    ("distance", "words"): "mean attended distance, words",
    ("attention", "[CLS]"): "attention to [CLS], %",
    ("attention", "[SEP]"): "attention to [SEP], %",
    ("attention", "punctuation"): "attention to punctuation, %",
}
"Kind and measure in shapes.parquet -> what it is."


def shape(source: CardSource, name: str) -> CardPart | None:
    """What the head's maps look like, whatever the words are."""
    rows = [row for row in source.of_head("shapes", name) if row["split"] == "report" and row["value"] == row["value"]]
    rows = [row for row in rows if row.get("scope") == rows[0].get("scope")]
    if not rows:
        return None
    known = {(row["kind"], row["measure"]): row for row in rows}
    named = [(known[key], said) for key, said in SHAPES.items() if key in known]
    for kind, said in (("offset", "most attended offset: {}, %"), ("class", "most frequent class: {}, % of texts")):
        of_kind = [row for row in rows if row["kind"] == kind]
        if of_kind:
            top = max(of_kind, key=lambda row: float(row["value"]))
            named.append((top, said.format(top["measure"])))
    biases = [row["measure"] for row in rows if row["kind"] == "sieve" and row["p_adjusted"] < 0.05]
    sentences = (f"Significantly biased to: {', '.join(biases)}.",) if biases else ()
    cells = tuple((said, *_amount(row, said)) for row, said in named)
    return CardPart("Attention statistics", sentences, ("measure", "value", "interval", "uniform map"), cells)


def _amount(row: Mapping[Any, Any], said: str) -> tuple[str, str, str]:
    write = percent if "%" in said else decimal
    low, high = float(row["ci_low"]), float(row["ci_high"])
    between = f"[{write(low)}, {write(high)}]" if low == low and high == high else ""
    return write(float(row["value"])), between, write(float(row["even"]))


CIRCUITS: Final[Mapping[str, str]] = {
    "kernel_attention": "attention at the favourite offset of its weights, %",
    "same_word": "prefers the same word, %",
    "related_words": "prefers related words, %",
    "copying": "copying score",
    "write_norm": "norm of what it writes",
}
"Column of circuits.parquet -> what it is."


def circuits(source: CardSource, name: str) -> CardPart | None:
    """What the weights alone say of the head."""
    found = source.of_head("circuits", name)
    if not found:
        return None
    row = found[0]
    sentences = (minus(f"By its weights alone its favourite offset is {row['kernel_offset']:+d}."),)
    cells = tuple(
        (text, percent(float(row[column])) if "%" in text else decimal(float(row[column])))
        for column, text in CIRCUITS.items()
        if column in row and row[column] == row[column]
    )
    return CardPart("From its weights alone", sentences, ("measure", "value"), cells)


def classifiers(source: CardSource, name: str) -> CardPart | None:
    """What a linear classifier reads off the head, the most selective first."""
    rows = [row for row in source.of_head("classifiers", name) if row["selectivity"] == row["selectivity"]]
    rows = sorted(rows, key=lambda row: (-float(row["selectivity"]), str(row["task"]), str(row["label"])))[:MOST]
    columns = ("task", "label", "accuracy, %", "control task, %", "selectivity", "interval", "")
    cells = tuple(
        (
            *(str(row["task"]), str(row["label"]), percent(row["accuracy"]), percent(row["control_accuracy"])),
            *(signed(row["selectivity"]), signed_interval(row["selectivity_low"], row["selectivity_high"])),
            "chosen" if row["selected"] else "",
        )
        for row in rows
    )
    return CardPart("Trained classifiers", (), columns, cells) if cells else None


def biography(source: CardSource, name: str) -> CardPart | None:
    """What became of the head in training."""
    table = source.run.tables.get("biography_lives")
    if table is None:
        return None
    rows = table[table["name"] == name].to_dict("records")
    columns = ("seed", "trajectory", "first role", "last role")
    cells = tuple(
        (str(row["seed"]), LIFE_SHOWN[row["life"]], row["first_role"] or MISSING, row["last_role"] or MISSING)
        for row in rows
    )
    return CardPart("Training trajectory", (), columns, cells) if cells else None

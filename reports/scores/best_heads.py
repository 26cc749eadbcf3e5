"""The head chosen for each label and direction: a row of the scores, in the order of a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

import pandas as pd

from reports.tables.grades import POSITION, has_stable_grade, own_labels
from reports.tables.marks import FEW_CLUSTERS as FEW_CLUSTERS
from reports.tables.scores import SCORES
from reports.tables.shared_columns import difference, items

CLASSIFIER: Final = "classifier"
"The probe whose rows are trained classifiers, with a table of their own."

PROBE_ORDER: Final = ("position", "dependency", "agreement", "coreference")
"Order of the probes on a page; others follow in the order of scores.parquet."

FIRST_ROLES: Final = (
    *(("dependency", "nsubj"), ("dependency", "obj"), ("coreference", ""), ("antecedent", ""), ("agreement", "")),
)
"Probe, and label (any where it is empty), of what is asked first: subjects, objects, antecedents, agreement."

GLOBAL: Final = "global"
"What `layer_attention` of the scores says of a layer in which pieces attend to all pieces."

BEST: Final = replace(
    SCORES,
    columns=(
        *SCORES.columns,
        difference("lexical_margin", "Accuracy minus that of the lexical table.", "lexical_margin"),
        difference("rule_margin", "Accuracy minus that of the strongest rule of grammar.", "rule_margin"),
        items("others", "Names of the other heads with a stable grade in the label, the most accurate first."),
    ),
)
"What is known of the head chosen for a label."

BestHead = SimpleNamespace
"A row of `BEST`: each column is an attribute. A label without a chosen head has `BEST.missing`."

Best = Mapping[str, Sequence[BestHead]]
"Probe -> its best heads."


def page_scores(scores: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows that one page can show, and a sentence for everything that it therefore leaves out.

    A page shows one model at its last step, one kind of maps and one report corpus.
    """
    left_out: list[str] = []
    rows = scores
    for column in ("model", "maps", "step"):
        values = rows[column].dropna().drop_duplicates()
        if len(values) > 1:
            chosen = values.max() if column == "step" else values.iloc[0]
            rows = rows[rows[column] == chosen]
            others = ", ".join(str(value) for value in values if value != chosen)
            left_out.append(f"This page shows {column} {chosen}; scores.parquet also holds {others}.")
    corpora = rows.loc[rows["split"] == "report", "corpus"].drop_duplicates()
    if len(corpora) > 1:
        rows = rows[(rows["split"] != "report") | (rows["corpus"] == corpora.iloc[0])]
        others = ", ".join(corpora.iloc[1:])
        left_out.append(f"This page shows report corpus {corpora.iloc[0]}; scores.parquet also holds {others}.")
    return rows, left_out


def probes(scores: pd.DataFrame) -> list[str]:
    """Names of the probes in `scores`, in the order of a page."""
    present = list(dict.fromkeys(scores["probe"]))
    first = [probe for probe in PROBE_ORDER if probe in present]
    return first + [probe for probe in present if probe not in first]


def best_heads(scores: pd.DataFrame, probe: str) -> tuple[BestHead, ...]:
    """Return the head of every label and direction of `probe` selected on the selection split, by its report split.

    They are sorted by `by_margin`: the largest margin first.
    """
    rows = scores[scores["probe"] == probe]
    report = rows[rows["split"] == "report"]
    others = report[has_stable_grade(report) & ~report["selected"]]
    others = others.sort_values(["accuracy", "layer", "head"], ascending=[False, True, True], kind="stable")
    named = others.groupby(["label", "variant"])["name"].agg(tuple).to_dict()
    chosen = {(row["label"], row["variant"]): row for row in report[report["selected"]].to_dict("records")}
    best = []
    for label, variant in rows[["label", "variant"]].drop_duplicates().itertuples(index=False, name=None):
        row: dict[Any, Any] = {"probe": probe, "label": label, "variant": variant}
        more = {"others": named.get((label, variant), ())}
        best.append(best_head(row | chosen.get((label, variant), {}) | more))
    return tuple(sorted(best, key=by_margin))


def best_head(row: Mapping[Any, Any]) -> BestHead:
    """Return a row of scores, of any head; what it does not say is missing."""
    known: dict[str, Any] = BEST.missing | {"others": ()} | {str(name): value for name, value in row.items()}
    head = BestHead(**known)
    head.lexical_margin, head.rule_margin = (head.accuracy - one for one in (head.lexical_accuracy, head.rule_accuracy))
    return head


def has_few_clusters(row: BestHead) -> bool:
    """Return whether intervals and tests rest on an effective number of documents below 20."""
    return bool(0 < row.effective_clusters < FEW_CLUSTERS)


def by_margin(row: BestHead) -> tuple[bool, bool, float, float, str, str]:
    """Return the sort key: trusted intervals first, then the highest lower end of the margin; missing last."""
    margin, accuracy = (math.inf if math.isnan(one) else -one for one in (row.margin_low, row.accuracy))
    unknown = math.isnan(row.accuracy)
    return has_few_clusters(row) or unknown, unknown, margin, accuracy, row.label, row.variant


def best_rows(best: Best) -> list[BestHead]:
    """Return the best heads of all probes, trained classifiers left out."""
    return [row for probe, rows in best.items() if probe != CLASSIFIER for row in rows]


def run_best_heads(scores: pd.DataFrame) -> list[BestHead]:
    """Return the best heads of all probes that the page of a run with `scores` shows, as `best_rows`."""
    shown, _ = page_scores(scores)
    return best_rows({probe: best_heads(shown, probe) for probe in probes(shown)})


def leaders(rows: Sequence[BestHead], most: int = 8) -> list[BestHead]:
    """Return the rows that say first what a run found, `most` of them at the most.

    They are the best head of every one of `FIRST_ROLES` that was tested, significant or not; then other significant
    heads of language, the highest grades and the surest margins first, and last those of position. Half of the rows may
    be of one probe, and a quarter of position beside language; labels that are pools or slices of others are left out.
    Where no linguistic role is significant, and none that is asked first was tested, they are the head that comes
    nearest in each probe before those of position, and where nothing at all is significant those that come nearest.
    """
    own = own_labels((row.probe, row.label) for row in rows)
    ranked = sorted((row for row in rows if row.name and (row.probe, row.label) in own), key=_first)
    asked = [next((row for row in ranked if _asks(row, *question)), None) for question in FIRST_ROLES]
    language, position = {(row.probe, row.label): row for row in asked if row}, dict[str, BestHead]()
    for row in sorted((row for row in ranked if row.grade), key=lambda row: (-row.grade, by_margin(row))):
        if row.probe == POSITION:
            position.setdefault(row.label, row)
        elif sum(probe == row.probe for probe, _ in language) < most // 2:
            language.setdefault((row.probe, row.label), row)
    if position and not language:
        for row in (row for row in ranked if row.probe != POSITION):
            language.setdefault((row.probe, ""), row)
    last = [*position.values()][: most // 4 if language else most]
    return [*language.values()][: most - len(last)] + last or ranked[:most]


def _first(row: BestHead) -> tuple[object, ...]:
    """Return the sort key of what is named first: significant, of a main label, with a sure margin."""
    return not row.grade, row.verdict != "yes", ":" in row.label, *by_margin(row)


def _asks(row: BestHead, probe: str, label: str) -> bool:
    return bool(row.probe == probe and label in ("", row.label.partition(":")[0]))


def layer_attention(scores: pd.DataFrame) -> dict[int, str]:
    """Return layer, counted from 0 -> its attention; {} where all layers are global, or where that is not known."""
    layers = scores.drop_duplicates("layer").sort_values("layer")
    kinds = {int(layer): str(kind) for layer, kind in zip(layers["layer"], layers["layer_attention"], strict=True)}
    return kinds if {*kinds.values()} - {"", GLOBAL} else {}

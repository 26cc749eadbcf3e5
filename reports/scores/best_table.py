"""The best heads of a run as tables: for pages and Markdown, notebooks, terminals and papers."""

import difflib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import pandas as pd
from markupsafe import Markup

from reports.formats import MISSING, count, decimal, interval, p_value, percent, signed, signed_interval, tied
from reports.run.folder import RunFolder
from reports.scores.best_heads import BEST, BestHead, best_heads, by_margin, page_scores, probes
from reports.scores.plain_names import baseline_name, role
from reports.scores.thresholds import RunThresholds, run_thresholds
from reports.tables.cells import Cell, TextColumn, head_cell
from reports.tables.grades import ANSWERS, answered, result, shown
from reports.tables.marks import baseline_marks, clusters_shown, ends, few_documents, spark
from reports.tables.scores import SCORES, WHOLE_ATTENTION
from reports.tables.text_table import TextTable

OTHERS: Final = 2
"How many of a label's other heads with a grade are named."


def best_shown(probe: str, rows: Sequence[BestHead], rule: RunThresholds | None, *, layers: bool = False) -> TextTable:
    """Return a probe's best heads: in words, and behind "all columns" the codes of labels, grades and further numbers.

    With `layers` one of those says whether the head's layer is local or global. Where nothing was tested there is no
    `rule`, and there are no results, no grades and no p.
    """
    grade = [] if rule is None else [TextColumn("Grade", partial(_grade, rule), "verdict", tip=SCORES.meaning("grade"))]
    more = (*_LABEL, *grade, *[LAYER] * layers, *(MORE if rule else UNTESTED))
    folded = (replace(column, folded=True, kind=column.kind.replace("row", "text")) for column in more)
    return TextTable.of(probe, (*answer_columns(rule, does), *folded), rows)


def answer_columns(rule: RunThresholds | None, does: Callable[[BestHead], Cell]) -> tuple[TextColumn, ...]:
    """Return the columns that a reader sees first: what a head does, how accurately, beside what, with what result."""
    verdicts = [] if rule is None else [TextColumn("Result", partial(_verdict, rule), "verdict")]
    return (TextColumn("The head attends", does, "row"), _HEAD, *_numbers(rule), *verdicts)


def _numbers(rule: RunThresholds | None) -> tuple[TextColumn, ...]:
    """Return the columns of a head's accuracy beside its strongest baseline."""
    rivals = "baseline so far" if rule is None else "baseline or control" if rule.controlled else "baseline"
    return (
        TextColumn(ends(0, 100), lambda row: _drawn(row, hollow=not _stable(row)), "spark", only="page", fixed=True),
        TextColumn("Accuracy, %", _accuracy, css="strong", tip=SCORES.meaning("accuracy")),
        TextColumn(f"Strongest {rivals}, %", _strongest, "text", tip=SCORES.meaning("baseline")),
    )


def every_head(rows: Sequence[BestHead], rule: RunThresholds) -> TextTable:
    """Return a line for each head: the role in which it is most clearly significant, or comes nearest to that."""
    first, last = (
        TextColumn("Main role, or the nearest", does, "text"),
        TextColumn("Result", lambda row: _badge(row, result(vars(row))), "verdict"),
    )
    return TextTable.of("Main roles of all heads", (replace(_HEAD, kind="row"), first, *_numbers(rule), last), rows)


def trained_shown(probe: str, rows: Sequence[BestHead]) -> TextTable:
    """Return the table of trained classifiers beside their controls."""
    return TextTable.of(probe, TRAINED, rows)


def also(row: BestHead) -> str:
    """Return others with a stable grade: "4 other heads: 3-4, 5-1 and 2 more", or "1 other head has one: 3-4"."""
    count = len(row.others)
    if not count:
        return ""
    named = ", ".join(row.others[:OTHERS]) + (f" and {count - OTHERS} more" if count > OTHERS else "")
    heads = f"{count} other head{'s' * (count > 1)}"
    return f"{heads}: {named}" if row.grade else f"{heads} {'has' if count == 1 else 'have'} one: {named}"


def _grade(rule: RunThresholds, row: BestHead) -> Cell:
    """Return the head's grade, the other heads with one, and the question's verdict where no head has one."""
    graded, answer = rule.grade(vars(row)), answered(row.verdict, row.excluded)
    badge = Markup('<span class="{}">{}</span>').format("badge" if row.grade else "muted", graded)
    any_head = f"any head: {answer}" if answer and row.verdict != "yes" else ""
    more = "; ".join(said for said in (also(row), any_head) if said)
    beside = Markup(' <span class="ci">{}</span>').format(more) if more else ""
    said = f"{graded}; {more}" if more else graded
    return Cell(said, sort="" if math.isnan(row.p_adjusted) else str(row.grade), page=badge + beside)


def does(row: BestHead) -> Cell:
    """Return what the head does, such as "from an object to its verb", and among which candidates."""
    text, _, among = role(row.probe, row.label, row.variant).partition(" (candidates: ")
    return Cell(text if row.probe else MISSING, f"among {among.removesuffix(')')}" if among else "")


def _accuracy(row: BestHead) -> Cell:
    caution, between = few_documents(row.effective_clusters), interval(row.ci_low, row.ci_high)
    return Cell(percent(row.accuracy), between, sort=float(row.accuracy), caution=caution)


def _strongest(row: BestHead) -> Cell:
    return Cell(percent(row.baseline_accuracy), baseline_name(row.baseline), sort=float(row.baseline_accuracy))


def _verdict(rule: RunThresholds, row: BestHead) -> Cell:
    """Return the verdict in words, why no head could be significant where nothing is decided, and what finds more.

    What finds more than the head is a table of words and distances, or a rule of grammar.
    """
    reason = rule.out_of_reach(row) if row.verdict == ANSWERS[-1] else ""
    better = _better(row)
    more = f"; {reason}" * bool(reason) + f"{', but' if row.grade else ';'} {better}" * bool(better)
    return _badge(row, verdict(row), more)


def _badge(row: BestHead, found: str, more: str = "") -> Cell:
    badge = Markup('<span class="{}">{}</span>').format("badge" if row.grade else "muted", found)
    sort = "" if math.isnan(row.p_adjusted) else str(row.grade)
    return Cell(f"{found}{more}", sort=sort, page=badge + tied(more.removeprefix(",")))


def _better(row: BestHead) -> str:
    """Return what a rule of grammar or the lexical table finds, the better one; "" where the head finds as much."""
    named = {"a rule of grammar": row.rule_accuracy, "a table of words and distances": row.lexical_accuracy}
    known = {name: accuracy for name, accuracy in named.items() if accuracy > row.accuracy}
    best = max(known, key=lambda name: known[name], default="")
    shown = percent(known[best]) if best else ""
    return f"{best} finds {shown} %" if best and shown != percent(row.accuracy) else ""


def verdict(row: BestHead) -> str:
    """Return what was shown of the best head of a label and direction, in a word or two."""
    return shown(vars(row), f"head {row.others[0]}" if row.others else "")


def _effective(row: BestHead) -> Cell:
    shown = decimal(row.effective_clusters, 1)
    return Cell(shown, sort=float(row.effective_clusters), caution=few_documents(row.effective_clusters))


def _stable(row: BestHead) -> bool:
    return result(vars(row)) in ("specialised", "significant")


def _drawn(row: BestHead, *, hollow: bool = False) -> Cell:
    below = baseline_marks(row.baseline_accuracy, row.lexical_accuracy, row.rule_accuracy)
    return Cell("", page=spark(row.accuracy, row.ci_low, row.ci_high, below=below, hollow=hollow))


def _margin(row: BestHead) -> str:
    return "up" if row.margin_low > 0 else "down" if row.margin_high < 0 else ""


def _rule(row: BestHead) -> Cell:
    return Cell(percent(row.rule_accuracy), row.rule, "rival", sort=float(row.rule_accuracy))


_LABEL: Final = (SCORES["label"].shown(kind="row"), SCORES["variant"].shown(css="muted"))
_HEAD: Final = SCORES["name"].shown("Head", css="head", write=lambda row: head_cell(row.name))

LAYER: Final = SCORES["layer_attention"].shown()

MORE: Final = (
    SCORES["margin"].shown_beside("Margin, points", css=_margin),
    SCORES["n"].shown("Scored words"),
    SCORES["effective_clusters"].shown("Effective documents", write=_effective),
    SCORES["p_adjusted"].shown("Adj. p", plain="adjusted p"),
    SCORES["p_words"].shown("Adj. p, words"),
    SCORES["p_rules"].shown("Adj. p, rules"),
    SCORES["stability"].shown(),
    SCORES["lexical_accuracy"].shown("Table of words and distances, %"),
    BEST["lexical_margin"].shown_beside("Margin over table, points"),
    SCORES["rule"].shown("Rule of grammar, %", write=_rule, kind="num"),
    BEST["rule_margin"].shown_beside("Margin over rule, points"),
    SCORES["mass"].shown_beside("Mass, %"),
    SCORES["coverage"].shown(),
    SCORES["share"].shown(),
    *(column.shown() for column in WHOLE_ATTENTION),
    SCORES["near_ties"].shown(),
)

UNTESTED: Final = tuple(column for column in MORE if not column.title.startswith("Adj. p"))

TRAINED: Final = (
    *_LABEL,
    replace(_HEAD, title="Best head"),
    SCORES["n"].shown(),
    clusters_shown(),
    TextColumn(ends(0, 100), _drawn, "spark", only="page", fixed=True),
    *SCORES["accuracy"].shown_with_interval("Balanced accuracy, %", css=lambda row: "strong"),
    SCORES["baseline_accuracy"].shown("Control task, %", tip="Accuracy on the control task."),
    *SCORES["margin"].shown_with_interval(
        "Selectivity, points", css=_margin, tip="Accuracy minus that on the control task."
    ),
)


COLUMNS: Final = (
    *("probe", "label", "variant", "head", "n", "accuracy, %", "interval", "baseline, %", "baseline"),
    *("margin", "interval", "p", "grade"),
)
"Of the table of all probes; that of one has no column for it."

NOTE: Final = (
    "Heads are selected on the selection split and evaluated on the report split, with 95 % intervals. The baseline "
    "is the strongest baseline or control, the margin is in percentage points over it, and p is corrected for all "
    "heads and labels of the run."
)


def best_table(run: RunFolder, probe: str | None = None, label: str | Sequence[str] | None = None) -> TextTable:
    """Return the chosen head of every label and variant, the largest sure margins first.

    They are those of one probe and of one or several labels where these are given, and have items on the report split;
    the note counts those that have none. Raises ValueError for a probe or label that the run did not ask.
    """
    scores, _ = page_scores(run.scores)
    rows = [row for name in requested_probes(run, probe) for row in best_heads(scores, name)]
    labels = [] if label is None else [label] if isinstance(label, str) else [*label]
    for one in labels:
        _check_label(run, one, rows)
    rows = [row for row in rows if not labels or row.label in labels]
    asked = [row for row in rows if row.n]
    empty = f" Left out: {len(rows) - len(asked)} without an item on the report split." * (len(asked) < len(rows))
    corpora = scores.loc[scores["split"] == "report", "corpus"].drop_duplicates()
    title = f"{run.name}: best heads{'' if probe is None else f' of {probe}'}, {', '.join(corpora)}"
    first, rule = 0 if probe is None else 1, run_thresholds(run)
    cells = tuple(_cells(row, rule)[first:] for row in asked)
    return TextTable(title, COLUMNS[first:], cells, best_frame(asked), NOTE + empty)


def _check_label(run: RunFolder, label: str, rows: Sequence[BestHead]) -> None:
    """Raise ValueError, with what there is, for a label that no row has."""
    known = [row.label for row in rows]
    if label not in known:
        raise ValueError(f"{run.folder}: no label {label!r}{_meant(label, known)}")


def best_frame(rows: Sequence[BestHead]) -> pd.DataFrame:
    """Return the numbers of best heads, one line a row, in the columns of `BEST`."""
    return pd.DataFrame([vars(row) for row in rows], columns=[*BEST.names])


def _cells(row: BestHead, rule: RunThresholds) -> tuple[str, ...]:
    return (
        *(row.probe, row.label, row.variant, row.name or "–", count(row.n)),
        *(percent(row.accuracy), interval(row.ci_low, row.ci_high)),
        *(percent(row.baseline_accuracy), row.baseline),
        *(signed(row.margin), signed_interval(row.margin_low, row.margin_high), p_value(row.p_adjusted)),
        rule.grade(vars(row)),
    )


def requested_probes(run: RunFolder, probe: str | None = None) -> list[str]:
    """Return the probes of a run, or the one that is named; raises ValueError, with those that there are."""
    known = probes(page_scores(run.scores)[0])
    if probe is None:
        return known
    if probe not in known:
        raise ValueError(f"{run.folder}: no probe {probe!r}{_meant(probe, known)}")
    return [probe]


def find_question(run: RunFolder, label: str, probe: str | None = None, variant: str | None = None) -> BestHead:
    """Return the best head of a label, in the probe and variant that are named or that with the largest sure margin.

    Raises ValueError, with what there is, where nothing of the kind was scored.
    """
    scores, _ = page_scores(run.scores)
    rows = [row for name in requested_probes(run, probe) for row in best_heads(scores, name) if row.n]
    _check_label(run, label, rows)
    found = [row for row in rows if row.label == label]
    kept = [row for row in found if variant in (None, row.variant)]
    if not kept:
        raise ValueError(
            f"{run.folder}: {label!r} has no variant {variant!r}{_meant(str(variant), [r.variant for r in found])}"
        )
    return min(kept, key=by_margin)


def _meant(name: str, known: Sequence[str]) -> str:
    """Return the end of an error: the name that was probably meant, or those that there are."""
    names = list(dict.fromkeys(known))
    near = difflib.get_close_matches(name, names, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names) or 'none'}"

"""What the page of findings says in words and tables: verdicts by model, every finding, its statements, and the runs.

All tables but the last are matrices with a column a model, where findings.csv has a row a model; runs are a list of
findings.json.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from reports.formats import about_minutes, day, duration, in_unit
from reports.statements.finding_record import FINDINGS, UNMEASURED, VERDICTS, Findings, number_of, published_words
from reports.tables.cells import Cell, TextColumn
from reports.tables.marks import verdict_cell, verdict_class
from reports.tables.text_table import OPEN, TextTable


def beside(entry: Mapping[str, Any], statement: Mapping[str, Any]) -> str:
    """Write our number beside the published one: value, interval, and the baseline where there is one."""
    if "decides" not in entry:
        return str(entry.get("missing", ""))
    ours = number_of(entry["ours"], statement["shown"])
    parts = [str(ours)] if ours is not None else []
    if entry["baseline"] is not None:
        parts.append(f"(baseline {in_unit(entry['baseline'], statement['shown'])})")
    parts += [f"head {entry['heads']}"] if entry["heads"] else []
    return " ".join(parts)


def deciding(entry: Mapping[str, Any], statement: Mapping[str, Any]) -> str:
    """Write the number that decides, with its interval and unit."""
    found = number_of(entry.get("decides"), statement["unit"])
    return "" if found is None else str(found)


def decided_by(statement: Mapping[str, Any]) -> str:
    """Say which number decides on a statement, and by which rule."""
    return f"Decided by: {statement['number']}. {statement['rule']}"


def common(finding: Mapping[str, Any]) -> str:
    """Return what decides on several statements of a finding, more than half of all; else empty."""
    said = Counter(decided_by(one) for one in finding["statements"])
    most, times = said.most_common(1)[0] if said else ("", 0)
    return most if times > 1 and 2 * times > len(finding["statements"]) else ""


def exceptions(finding: Mapping[str, Any]) -> bool:
    """Return whether something else than `common` decides on a statement of a finding."""
    return any(decided_by(one) != common(finding) for one in finding["statements"])


def provenance(finding: Mapping[str, Any]) -> str:
    """Say that published numbers of a finding were not read in the paper; empty where all were."""
    read = {one["published"]["provenance"] for one in finding["statements"]}
    if "memory" in read:
        return "paper from memory, unverified"
    return "paper at second hand" if "second-hand" in read else ""


def counted_as(finding: Mapping[str, Any]) -> str:
    """Return whether a finding is counted, or why it is not."""
    return "yes" if finding["counted"] else f"no: {finding['uncounted']}"


def counted_words(findings: Findings) -> str:
    """Say how many findings are counted, and why others are not."""
    if len(findings.counted) == len(findings.findings):
        return ""
    kinds = {"are facts, whatever the weights": "fact", "rest on a number that is counted already": "repeats"}
    kinds |= {"are not what the paper claims": "unclaimed", "have a rule that changed after their numbers": "revised"}
    kinds |= {"have a rule that untrained weights pass": "untrained"}
    others = ", ".join(f"{sum(bool(one.get(key)) for one in findings.findings)} {said}" for said, key in kinds.items())
    return f"{len(findings.counted)} findings are counted; of the others {others}."


def beyond_untrained(entry: Mapping[str, Any], statement: Mapping[str, Any]) -> list[str]:
    """Write by how much the number that decides is more than that of each kind of untrained weights."""
    found = []
    for kind, minus in entry.get("minus", {}).items():
        number = number_of(minus, "points" if statement["unit"] == "%" else statement["unit"])
        if number is not None:
            weights = f"{kind} weights"
            seeds = f"{minus['seeds']} seed{'s' if minus['seeds'] != 1 else ''}"
            found.append(f"minus {weights} {number} ({seeds})")
    return found


def with_network(finding: Mapping[str, Any], findings: Findings) -> str:
    """Say how to hold the paper's own model against its numbers, where it is not among the models; else empty."""
    names = finding["original"]
    if not names or any(name in findings.models for name in names):
        return ""
    return (
        f"The paper's own model is not among those here. With network: headscope reproduce {finding['id']} --model "
        f"{names[0]}; its values must then lie within their tolerance of the published ones."
    )


def without_untrained(finding: Mapping[str, Any]) -> list[str]:
    """Say, for each model that lacks numbers of untrained weights, the command that measures them and its cost."""
    sentences = []
    for model, result in finding["results"].items():
        open_ones = [one for one in result["statements"] if one["verdict"] == UNMEASURED and "decides" in one]
        if open_ones and "untrained" in result:
            how = result["untrained"]
            sentences.append(
                f"{model}: {len(open_ones)} of {len(result['statements'])} statements are not measured, for lack of "
                f"untrained weights. To measure ({about_minutes(how['seconds'])} more here): {how['command']}"
            )
    return sentences


def facts(run: Mapping[str, Any]) -> str:
    """Say when, where and how long a reading was made."""
    parts = [day(run["started"]) if run.get("started") else "", duration(run["wall_seconds"] or 0)]
    parts += [f"{run['cores']} cores, {run['threads']} threads" if run.get("cores") else ""]
    parts += [f"commit {str(run['git_commit'])[:8]}" if run.get("git_commit") else "", str(run.get("platform") or "")]
    corpora = run.get("corpora") or {}
    parts.insert(0, " and ".join(dict.fromkeys(str(one) for one in corpora.values())))
    return ", ".join(part for part in parts if part)


def verdict_counts(findings: Findings) -> TextTable:
    """Return how many findings have which verdict, by model."""
    named = TextColumn("Model", lambda row: row[0] + " (negative control)" * (row[0] in findings.controls), "row")
    return TextTable.of("Verdicts by model", (named, *map(_counted, VERDICTS)), findings.counts.items())


def _counted(verdict: str) -> TextColumn:
    return TextColumn(verdict, lambda row: row[1][verdict])


Row = tuple[Mapping[str, Any], Mapping[str, Any], int]
"A paper, one of its findings, and how many rows the paper has; 0 but for the first."


def _rows(found: Findings) -> Iterator[Row]:
    for paper in found.papers:
        for place, finding in enumerate(paper["findings"]):
            yield paper, finding, 0 if place else len(paper["findings"])


def _claim(row: Row) -> Cell:
    return Cell(row[1]["claim"], link=f"#{row[1]['id']}")


def _verdict(model: str, row: Row) -> Cell:
    result = row[1]["results"].get(model)
    if not result:
        return verdict_cell("not tested")
    told, read = verdict_cell(result["verdict"]), provenance(row[1])
    return replace(told, aside=f"({read})") if read and result["runs"] else told


def all_findings(findings: Findings) -> TextTable:
    """Return every finding with its verdict on every model."""
    folded = len(findings.models) + 3 > OPEN
    named = (
        FINDINGS["paper"].shown(
            kind="row", write=lambda row: Cell(row[0]["cited"] if row[2] else "", span=row[2]), css="wrapping"
        ),
        FINDINGS["claim"].shown(write=_claim, css="wrapping"),
        TextColumn("counted", lambda row: counted_as(row[1]), "text", "wrapping", folded=folded),
    )
    return TextTable.of("All findings", (*named, *_models(findings)), _rows(findings))


def requested_findings(findings: Findings) -> TextTable:
    """Return the findings that were asked by name with their verdicts on the first models."""
    claim = FINDINGS["claim"].shown("Finding", "row", write=_claim, css="wrapping")
    rows = (row for row in _rows(findings) if row[1]["id"] in findings.requested)
    return TextTable.of("Verdicts", (claim, *_models(findings)[: OPEN - 1]), rows)


def _models(findings: Findings) -> list[TextColumn]:
    return [TextColumn(model, partial(_verdict, model), "text", "verdict", plain=model) for model in findings.models]


def statements(finding: Mapping[str, Any]) -> TextTable:
    """Return the statements of a finding: what is published, and what was found on each model."""
    results = {model: result["statements"] for model, result in finding["results"].items() if result["runs"]}
    columns = (
        FINDINGS["text"].shown(
            "Statement", "row", write=lambda row: _statement(row[1], common(finding)), css="wrapping"
        ),
        FINDINGS["published"].shown("Published", "text", write=lambda row: _published(row[1]), css="wrapping"),
        *(TextColumn(model, partial(_ours, told), "text", "wrapping", plain=model) for model, told in results.items()),
    )
    return TextTable.of(f"Statements of {finding['id']}", columns, enumerate(finding["statements"]))


def _statement(statement: Mapping[str, Any], rule: str) -> Cell:
    by = decided_by(statement)
    return Cell(str(statement["text"]), "" if by == rule else by)


def _published(statement: Mapping[str, Any]) -> Cell:
    said, words = statement["published"], published_words(statement)
    aside = " ".join(filter(None, (f"({said['read']})" if words else "", said["erratum"])))
    return Cell(words, aside, quiet="down" if said["erratum"] or said["provenance"] == "memory" else "ci")


def _ours(told_of: list[Mapping[str, Any]], row: tuple[int, Mapping[str, Any]]) -> Cell:
    """Return our number, the one that decides with its verdict, and what is said of it."""
    place, statement = row
    told = told_of[place]
    ours, decides, verdict = beside(told, statement), deciding(told, statement), told["verdict"]
    rest = "; ".join(filter(None, (told["near"], *beyond_untrained(told, statement), told["note"])))
    if not decides:
        return Cell(ours, rest)
    first = "; ".join(filter(None, (ours, f"{decides}:")))
    page = Markup('{} <span class="{}">{}</span> <span class="ci">{}</span>')
    return Cell(first, verdict, page=page.format(first, verdict_class(verdict), verdict, rest))


RUNS: Final = (
    TextColumn("Model", lambda run: run["model"], "row"),
    TextColumn("Reading", lambda run: run["reading"], "text"),
    TextColumn("Hash", lambda run: run["sha256"][:12], "text", "head"),
    TextColumn("What was read, when, and with what", facts, "text", "wrapping"),
)


def runs(findings: Findings) -> TextTable:
    """Return the runs behind all numbers."""
    return TextTable.of("Runs", RUNS, findings.record["runs"])

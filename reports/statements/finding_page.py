"""The page of findings: paper, claim, published number, ours with its interval, and the verdict, model beside model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from reports.blocks.block import Block, Charts, Fold, Heading, Paragraph, Points, Section, TableBlock
from reports.blocks.page import Page, write_page
from reports.blocks.short import short_form, short_table
from reports.drawing.charts import Chart
from reports.formats import day, names
from reports.progress import Step, silent
from reports.statements import finding_text as texts
from reports.statements.drawn import figure_chart
from reports.statements.figure import Figure, beside_published
from reports.statements.finding_record import REPRODUCED, VERDICTS, WEAKER, Findings, read_findings
from reports.tables.files import replace_file

TABLE = "findings.csv"
"One row a statement and model."

RULES: Final = (
    "A finding is made of statements. Each has a rule that follows from the paper, with the paper’s own margin or "
    "table as the bar.",
    "A statement holds where the whole 95 % interval of its number lies in the range of the rule. It does not hold "
    "where the whole interval lies outside; otherwise it is not decided.",
    "A claim about what training adds must also hold significantly beyond randomly initialised and permuted weights, "
    "three seeds each.",
    "Reproduced: all statements with a number hold (or as many as the finding requires).",
    "Weaker version holds: some hold only below the paper’s own bar, or the finding states what it leaves out.",
    "Not reproduced: no statement holds, and their intervals lie outside.",
    "Differs: in between.",
    "Not measured: the numbers of untrained weights, or of today’s rule, decide and are missing.",
    "Not testable here: the finding lists what is missing.",
    "On a paper’s own model our value must also lie within a stated tolerance of the published one.",
    "Published numbers from memory or at second hand are marked beside the verdict.",
)

OF_RUNS: Final = (
    "Of a run of your own a finding is also not measured where the run lacks what it needs; what that is stands beside "
    "the verdict. The texts are those of the run."
)

CRITERION: Final = (
    "A finding is reproduced where all of its statements hold: the whole 95 % interval of each number lies in the "
    "range that the paper sets. It differs where some hold and others do not. A claim about what training adds "
    "must also hold significantly beyond untrained weights."
)

NAMED: Final = 5
"Findings and corpora that the short form names, at most."

CONTROL: Final = (
    "Randomly initialised and permuted weights are not trained, so they must reproduce no finding that is counted. "
)

UNEXPLAINED: Final = "not explained: the finding, or its rule, does not separate what was learned from what was not."


def write_findings_page(folder: Path, step: Step = silent) -> Path:
    """Write index.html, report.md and findings.csv into `folder` from its record; return the page's path.

    Raises FileNotFoundError where there is no record, ValueError where it cannot be understood.
    """
    findings = read_findings(folder)
    path = write_page(folder, findings_page(findings), step)
    replace_file(findings.table(), folder / TABLE)
    return path


def findings_page(findings: Findings) -> Page:
    """Return the page of findings: the verdicts, what was asked by name, then all others."""
    made = findings.record["runs"]
    version = ", ".join(sorted({str(one.get("headscope") or "") for one in made} - {""}))
    newest = max((str(one.get("started") or "") for one in made), default="")
    opening = tuple(_opening(findings))
    return Page(
        title="Published findings about attention heads, tested on models",
        sections=tuple(_sections(findings, opening)),
        byline=(day(newest), ("headscope", version)),
        kicker="headscope reproduce",
        version=version,
        short=tuple(
            short_form(
                opening,
                _measured(findings),
                _command(findings),
                f"the published numbers and ours for each statement, its rule and its charts; {TABLE} has all numbers",
                _telling_charts(findings),
            )
        ),
    )


def _of_own_runs(findings: Findings) -> bool:
    """Return whether any model is a finished run of the reader's own."""
    return any(one.get("own_run") for one in findings.record["models"])


def _command(findings: Findings) -> str:
    """Return the command of the findings; runs of one's own are RUN, for the record has no folders."""
    of_runs = _of_own_runs(findings)
    own, controls = ["RUN"] * of_runs, ["--controls"] * (bool(findings.controls) and not of_runs)
    return " ".join(["headscope reproduce", *own, *findings.requested, *controls])


def _opening(findings: Findings) -> Iterator[Block]:
    """Yield how many findings are reproduced, by which rule, and the verdicts."""
    yield Paragraph(_answer(findings))
    yield Paragraph(CRITERION)
    yield short_table(
        texts.requested_findings(findings) if findings.requested else texts.verdict_counts(findings), TABLE
    )


def _sections(findings: Findings, opening: Sequence[Block]) -> Iterator[Section]:
    rules = Fold("How to read this", [Points([*RULES, *[OF_RUNS] * _of_own_runs(findings)])])
    counted = [Paragraph(texts.counted_words(findings))] * (len(findings.counted) < len(findings.findings))
    yield Section("summary", "Summary", (*opening, *counted, rules))
    if findings.requested:
        asked = [block for paper in _papers(findings, requested=True) for block in _paper(paper, findings)]
        yield Section("asked", "Findings asked for", asked)
    if findings.controls:
        yield Section("control", "Negative control", tuple(_control(findings)))
    others = [
        Fold(_tally(paper, findings), tuple(_paper(paper, findings))) for paper in _papers(findings, requested=False)
    ]
    every = texts.all_findings(findings)
    listed = Fold(f"{len(every)} findings with their verdicts", [TableBlock(every, False)])
    if findings.requested:
        folded = Fold(f"{len(others)} papers, and the list of all findings", (listed, *others))
        yield Section("others", "All other findings", (folded,))
    else:
        yield Section("all", "All findings", (listed, *others))
    about = Paragraph("The hash is the sha256 of a run's config and of all its tables.")
    yield Section("runs", "Runs", (about, TableBlock(texts.runs(findings), False)))


def _papers(findings: Findings, *, requested: bool) -> list[dict[str, Any]]:
    """Return the papers with those of their findings that were asked by name, or with the others."""
    kept = [
        paper | {"findings": [one for one in paper["findings"] if (one["id"] in findings.requested) == requested]}
        for paper in findings.papers
    ]
    return [paper for paper in kept if paper["findings"]]


def _answer(findings: Findings) -> str:
    """Say how many findings are reproduced by some trained model, and how many by untrained weights."""
    asked = findings.reported
    best = [findings.best(one) for one in asked]
    papers = len({one["paper"] for one in asked})
    of = f"Of {len(asked)} findings{' asked for' * bool(findings.requested)} from {papers} paper{'s' * (papers != 1)}"
    answer = (
        f"{of} at least one trained model reproduces {best.count(REPRODUCED)}, and {best.count(WEAKER)} more in a "
        "weaker version."
    )
    if not findings.controls:
        return answer
    untrained = sum(one in findings.by_control for one in asked)
    return f"{answer} Weights without training, the negative control, reproduce {untrained or 'none'} of them."


def _measured(findings: Findings) -> Iterator[str]:
    """Yield what was read, and which findings are reproduced."""
    read = dict.fromkeys(str(one) for run in findings.record["runs"] for one in (run.get("corpora") or {}).values())
    models = ", ".join(findings.trained)
    yield f"{len(findings.record['runs'])} runs of {models} and untrained weights, on {names([*read], NAMED)}."
    reproduced = [one for one in findings.reported if findings.best(one) == REPRODUCED]
    if reproduced:
        more = len(reproduced) - NAMED
        said = "; ".join(f"{one['claim'].removesuffix('.')} ({one['id']})" for one in reproduced[:NAMED])
        yield f"Reproduced: {said}" + (f"; and {more} more in {TABLE}." if more > 0 else ".")


def _telling_charts(findings: Findings) -> list[Chart]:
    """Return the charts of the findings that were asked by name, or else of those that are reproduced, if any."""
    for one in findings.reported:
        if (findings.requested or findings.best(one) == REPRODUCED) and (charts := _charts(one, findings)):
            return charts
    return []


def _control(findings: Findings) -> Iterator[Block]:
    reproduced = findings.by_control
    yield Paragraph(CONTROL + ("They do reproduce these findings:" if reproduced else "They reproduce none."))
    if reproduced:
        yield Points(
            [f"{one['id']}{' (counted)' * one['counted']}: {one['uncounted'] or UNEXPLAINED}" for one in reproduced]
        )


def _tally(paper: Mapping[str, Any], findings: Findings) -> str:
    """Name a paper with the verdicts on its findings by model."""
    of_paper = paper["findings"]
    parts = [f"{paper['cited']}: {len(of_paper)} finding{'s' * (len(of_paper) > 1)}"]
    for model in findings.models:
        of = Counter(one["results"][model]["verdict"] for one in of_paper if model in one["results"])
        if of:
            parts.append(f"{model}: " + ", ".join(f"{of[verdict]} {verdict}" for verdict in VERDICTS if of[verdict]))
    return "; ".join(parts)


def _paper(paper: Mapping[str, Any], findings: Findings) -> Iterator[Block]:
    yield Paragraph(f"{paper['cited']}: {paper['title']}")
    for finding in paper["findings"]:
        yield from _finding(finding, findings)


def _finding(finding: Mapping[str, Any], findings: Findings) -> Iterator[Block]:
    """Yield one finding: what the paper says, the verdicts, the statements, and its charts."""
    yield Heading(finding["claim"], anchor=finding["id"])
    yield Paragraph(_about(finding))
    if finding["results"]:
        yield Points([_verdict(model, finding) for model in finding["results"]])
    elif finding["missing"]:
        yield Paragraph(f"Not testable here: {finding['missing']}")
    for key, said in (("uncounted", "Not counted"), ("weaker", "A weaker version is tested")):
        if finding.get(key):
            yield Paragraph(f"{said}: {finding[key]}.")
    if rule := texts.common(finding):
        yield Paragraph(rule + " A rule given with a statement takes precedence." * texts.exceptions(finding))
    if finding["statements"]:
        yield TableBlock(texts.statements(finding), caption=False)
    for sentence in filter(None, (*texts.without_untrained(finding), texts.with_network(finding, findings))):
        yield Paragraph(sentence, note=True)
    if charts := _charts(finding, findings):
        yield Charts(charts)


def _about(finding: Mapping[str, Any]) -> str:
    text = f"{finding['id']}, {finding['where']}. Original: {finding['model']}; {finding['data']}. {finding['metric']}"
    text += f" Here: {finding['stands_in']}" if finding["stands_in"] else ""
    return text + (f" What differs: {finding['differs']}" if finding["differs"] else "")


def _verdict(model: str, finding: Mapping[str, Any]) -> str:
    """Say what a model's verdict is, how the published numbers were read, and from which runs it comes."""
    result = finding["results"][model]
    why = f", {result['why']}" if result["why"] else ""
    if not result["runs"]:
        return f"{model}: {result['verdict']}{why}"
    read = f" ({texts.provenance(finding)})" if texts.provenance(finding) else ""
    made = ", ".join(f"{name} {sha256[:12]}" for name, sha256 in result["runs"].items())
    return f"{model}: {result['verdict']}{why}{read}; from {made}"


def _charts(finding: Mapping[str, Any], findings: Findings) -> list[Chart]:
    """Return the chart of a finding for every model that it was measured on.

    A finding that was asked by name and has none gets bars of our numbers beside the published ones.
    """
    results = finding["results"]
    drawn = {model: Figure.of(one["figure"]) if one["figure"] else None for model, one in results.items()}
    if not any(drawn.values()) and finding["id"] in findings.requested:
        drawn = {model: beside_published(finding, one) for model, one in results.items()}
    return [figure_chart(figure, model) for model, figure in drawn.items() if figure]

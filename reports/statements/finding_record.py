"""The record of findings as the page reads it: papers, findings, models, results and runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pandas as pd

from reports.formats import in_unit, plain
from reports.statements.statement import Number, read_json_record
from reports.tables.shared_columns import NOT_NEGATIVE, number, text
from reports.tables.table import Table

RECORD = "findings.json"
"The file of all findings in their folder."

PUBLISHED = Path(__file__).parents[1] / "published" / "findings"
"The folder of the record that is published with headscope."

VERDICTS: Final = (
    "reproduced",
    "weaker version holds",
    "differs",
    "not reproduced",
    "not measured",
    "not testable here",
)
"On a finding, in the order in which they are counted."

REPRODUCED, WEAKER, DIFFERS, NOT_REPRODUCED, UNMEASURED, UNTESTABLE = VERDICTS
"""WEAKER also of a statement below the paper's own bar; UNMEASURED of one whose number lies in the range, while what
untrained weights have is not known."""

FINDINGS: Final = Table(
    "One row for each statement of a finding and model. Numbers are in `unit`, those that decide in `decides_unit`.",
    ("finding", "statement", "model"),
    (
        text("paper", "The paper, by authors and year."),
        text("where", "Where in the paper the finding stands."),
        text("finding", "Short name of the finding."),
        text("claim", "What the paper claims, in a sentence."),
        text("statement", "Short name of the statement, one part of the finding."),
        text("text", "The statement that can be tested, in a sentence."),
        text("original_model", "Model of the paper."),
        number("published", "Value that the paper reports; missing where it does not report one."),
        number("published_baseline", "Baseline that the paper reports; missing where it does not report one."),
        text("published_text", "What else the paper prints."),
        text("provenance", "How the published number was obtained, such as from the paper's text."),
        text("erratum", "What is known to be wrong in the paper's number; empty for nothing."),
        text("unit", "Unit of the published value and of ours."),
        number("ours", "Value that was measured; missing where nothing was measured.", None, "ours"),
        number("ours_low", "Lower end of the 95 % interval of our value."),
        number("ours_high", "Upper end of the 95 % interval of our value."),
        number("ours_baseline", "Baseline that was measured; missing where nothing was measured."),
        text("number", "Which number decides the statement."),
        number("decides", "Value of the number that decides; missing where nothing was measured.", None, "decides"),
        number("decides_low", "Lower end of the 95 % interval of the number that decides."),
        number("decides_high", "Upper end of the 95 % interval of the number that decides."),
        text("decides_unit", "Unit of the number that decides."),
        number(
            "n", "Number of items that it comes from; missing where nothing was measured.", NOT_NEGATIVE, write=plain
        ),
        text("rule", "Rule by which the number decides, in a sentence."),
        text("heads", "Heads that the number comes from; empty without one."),
        text("missing", "Why nothing was measured; empty where something was."),
        text("verdict", "Verdict on the statement."),
        text("verdict_of_finding", "Verdict on the finding as a whole.", VERDICTS),
        text("model", "Model that was measured."),
        text("runs", "Runs that the number comes from."),
    ),
)

FINDING_TABLES: Final[Mapping[str, Table]] = {"findings": FINDINGS}


@dataclass(frozen=True)
class Findings:
    """All findings, and what was measured for them."""

    record: Mapping[str, Any]

    @cached_property
    def papers(self) -> list[dict[str, Any]]:
        """The papers with their findings, each with its results by model."""
        by_paper: dict[str, list[dict[str, Any]]] = {one["key"]: [] for one in self.record["papers"]}
        for finding in self.record["findings"]:
            by_paper[finding["paper"]].append(finding | {"results": self.results(finding["id"])})
        return [paper | {"findings": by_paper[paper["key"]]} for paper in self.record["papers"]]

    @cached_property
    def findings(self) -> list[dict[str, Any]]:
        """All findings in the order of the papers."""
        return [finding for paper in self.papers for finding in paper["findings"]]

    @property
    def models(self) -> list[str]:
        """The models that findings were compared with, the control last."""
        return [one["model"] for one in sorted(self.record["models"], key=lambda one: one["control"])]

    @property
    def controls(self) -> list[str]:
        """The models that have learned nothing."""
        return [one["model"] for one in self.record["models"] if one["control"]]

    @property
    def trained(self) -> list[str]:
        """The models that have learned something."""
        return [model for model in self.models if model not in self.controls]

    @property
    def reported(self) -> list[dict[str, Any]]:
        """The findings that the last call asked by name, or else those that are counted."""
        return [one for one in self.findings if one["id"] in self.requested] or self.counted

    def best(self, finding: Mapping[str, Any]) -> str:
        """Return the verdict that comes first in VERDICTS, of those of all trained models; "" without any."""
        found = {finding["results"][model]["verdict"] for model in self.trained if model in finding["results"]}
        return next((verdict for verdict in VERDICTS if verdict in found), "")

    def results(self, finding: str) -> dict[str, dict[str, Any]]:
        """Return the result of each model that a finding was compared with, by its name."""
        found = {one["model"]: one for one in self.record["results"] if one["finding"] == finding}
        return {model: found[model] for model in self.models if model in found}

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many of the findings that are counted have which verdict, by model."""
        told = {
            model: [one["results"][model]["verdict"] for one in self.counted if model in one["results"]]
            for model in self.models
        }
        return {model: {verdict: found.count(verdict) for verdict in VERDICTS} for model, found in told.items()}

    @cached_property
    def counted(self) -> list[dict[str, Any]]:
        """The findings that are no fact, repeat no other, and are what their paper claims."""
        return [finding for finding in self.findings if finding["counted"]]

    @property
    def requested(self) -> list[str]:
        """The findings that the last call asked by name; none where it asked all."""
        return list(self.record.get("requested", ()))

    @property
    def by_control(self) -> list[dict[str, Any]]:
        """The findings that untrained weights reproduce, of any seed, with the reason."""
        return [
            finding
            for finding in self.findings
            if any(_reproduced(finding["results"].get(model, {})) for model in self.controls)
        ]

    def table(self) -> pd.DataFrame:
        """Return one row a statement and model: what is published, what was measured, and the verdicts."""
        rows = [
            _row(paper, finding, statement, result, told)
            for paper in self.papers
            for finding in paper["findings"]
            for result in finding["results"].values()
            for statement, told in zip(finding["statements"], result["statements"], strict=True)
        ]
        return FINDINGS.validated(pd.DataFrame(rows, columns=[*FINDINGS.names]), "findings.csv")


def _reproduced(result: Mapping[str, Any]) -> bool:
    """Return whether a finding, or a weaker version of it, is reproduced by some seed of untrained weights."""
    return any(verdict in (REPRODUCED, WEAKER) for verdict in (result.get("verdict"), *result.get("by_seed", ())))


def _row(
    paper: Mapping[str, Any],
    finding: Mapping[str, Any],
    statement: Mapping[str, Any],
    result: Mapping[str, Any],
    told: Mapping[str, Any],
) -> dict[str, Any]:
    published, decides, ours = statement["published"], told.get("decides") or {}, told.get("ours") or {}
    about = {"paper": paper["cited"], "where": finding["where"], "finding": finding["id"], "claim": finding["claim"]}
    about |= {"statement": statement["name"], "text": statement["text"], "original_model": finding["model"]}
    said = {
        f"published{'_' + name if name != 'value' else ''}": published[name] for name in ("value", "baseline", "text")
    }
    said |= {"provenance": published["provenance"], "erratum": published["erratum"], "unit": statement["shown"]}
    number = {"ours": (ours or decides).get("value"), "ours_low": (ours or decides).get("low")}
    number |= {"ours_high": (ours or decides).get("high"), "ours_baseline": told.get("baseline")}
    rule = {"number": statement["number"], "decides": decides.get("value"), "decides_low": decides.get("low")}
    rule |= {"decides_high": decides.get("high"), "decides_unit": statement["unit"], "n": decides.get("n")}
    rule |= {"rule": statement["rule"], "heads": told.get("heads", ""), "missing": told.get("missing", "")}
    verdicts = {"verdict": told["verdict"], "verdict_of_finding": result["verdict"], "model": result["model"]}
    return about | said | number | rule | verdicts | {"runs": " ".join(result["runs"].values())}


def published_words(statement: Mapping[str, Any]) -> str:
    """Write what the paper says: its value, its baseline, and what else is printed."""
    said = statement["published"]
    parts = []
    if said["value"] is not None:
        parts.append(f"{in_unit(said['value'], statement['shown'])} {statement['shown']}")
    if said["baseline"] is not None:
        parts.append(f"(baseline {in_unit(said['baseline'], statement['shown'])})")
    if said["text"]:
        parts.append(said["text"])
    return " ".join(parts)


def number_of(entry: Mapping[str, Any] | None, unit: str) -> Number | None:
    """Read an estimate of the record; None where there is none."""
    return None if entry is None else Number.of(entry, unit=unit)


def read_findings(folder: Path) -> Findings:
    """Return the record of findings that lies in `folder`; ValueError says what is wrong with it."""
    return read_json_record(folder / RECORD, "findings", "reproduce", _checked)


def _checked(record: dict[str, Any]) -> Findings:
    found = Findings(record)
    _ = (found.table(), found.models, [one["runs"] for one in record["results"]], record["runs"])
    return found

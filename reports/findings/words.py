"""What the page of findings says of a statement in words: our number, the one that decides, and by which rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from reports.claims.record import Number
from reports.findings.record import UNMEASURED, Findings, number_of
from reports.formats import about_minutes, day, duration, in_unit


def beside(entry: Mapping[str, Any], statement: Mapping[str, Any]) -> str:
    """Write our number beside the published one: value, interval, and the baseline where there is one."""
    if "decides" not in entry:
        return str(entry.get("missing", ""))
    ours = number_of(entry["ours"], statement["shown"])
    parts = [_number(ours)] if ours is not None else []
    if entry["baseline"] is not None:
        parts.append(f"(baseline {in_unit(entry['baseline'], statement['shown'])})")
    parts += [f"head {entry['heads']}"] if entry["heads"] else []
    return " ".join(parts)


def deciding(entry: Mapping[str, Any], statement: Mapping[str, Any]) -> str:
    """Write the number that decides, with its interval and unit."""
    found = number_of(entry.get("decides"), statement["unit"])
    return "" if found is None else _number(found)


def _number(found: Number) -> str:
    return " ".join(filter(None, (found.shown, found.unit, found.interval)))


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
    return f"Counted are {len(findings.counted)}: of the others {others}."


def beyond_untrained(entry: Mapping[str, Any], statement: Mapping[str, Any]) -> list[str]:
    """Write by how much the number that decides is more than that of each kind of untrained weights."""
    found = []
    for kind, minus in entry.get("minus", {}).items():
        number = number_of(minus, "points" if statement["unit"] == "%" else statement["unit"])
        if number is not None:
            weights = f"{kind} weights"
            seeds = f"{minus['seeds']} seed{'s' if minus['seeds'] != 1 else ''}"
            found.append(f"minus {weights} {_number(number)} ({seeds})")
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

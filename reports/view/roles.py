"""The roles that a run knows of heads, as the page of `headscope view` tells them."""

from __future__ import annotations

from dataclasses import dataclass

from reports.heads.card_parts import CardSource, main_roles, of_language, roles
from reports.heads.role_marks import RoleName
from reports.run.folder import RunFolder


@dataclass(frozen=True)
class KnownRole:
    """What a run says of one head."""

    main: RoleName | None
    "In which it is most surely above its rivals; None where it has a grade in nothing."
    text: str
    "Its surest numbers, in one sentence."
    rows: tuple[tuple[str, ...], ...]
    "Its roles, the surest first: what `reports.heads.card_parts.ROLE_COLUMNS` says."
    language: RoleName | None = None
    "Its main role among those of language."


def known_roles(run: RunFolder) -> dict[str, KnownRole]:
    """Return what a run says of every head that it scored, by name."""
    source = CardSource(run)
    main, language = main_roles(source.rows), main_roles(of_language(source.rows))
    found = {}
    for name in source.rows["name"].unique():
        if (part := roles(source, name)) is not None:
            found[name] = KnownRole(main.get(name), _said(part.rows[0]), part.rows, language.get(name))
    return found


def _said(row: tuple[str, ...]) -> str:
    label, variant, accuracy, interval, baseline, margin, margin_interval, grade = row
    numbers = f"accuracy {accuracy} % {interval}".rstrip()
    above = f"margin {margin} {margin_interval}".rstrip()
    return f"{label}, {variant}: {numbers}; strongest baseline {baseline}; {above}; {grade}"

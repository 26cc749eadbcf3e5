"""What headscope knows by name: probes, corpora, models and findings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from mha.messages import nearest_name

if TYPE_CHECKING:
    from probes.records import Document
    from probes.registry import Probe

Rows = list[dict[str, Any]]

_WITH_COREFERENCE = ", or a file with coreference"

HELD = {
    "trees": (("trees",), ", or a CoNLL-U file with trees"),
    "subjects": (("trees", "subjects"), ", or a CoNLL-U file with trees and the number of verbs"),
    "mentions": (("coreference",), _WITH_COREFERENCE),
    "candidates": (("coreference", "pronouns"), f"{_WITH_COREFERENCE} or pronouns with candidates"),
    "noun groups": (("trees, coreference", "noun groups"), ", or a CoNLL-U file with trees and coreference"),
    "senses": (("sense",), ""),
    "atom maps": (("atom maps",), ""),
    "pairs": ((), "a table of pairs of texts, text and text_pair"),
}
"What a probe needs -> the words that titles of corpora have for it, and which files have it; all else is in any text."

SUBJECTS = {
    **{"ewt-train": 61, "ewt-dev": 67, "gum-train": 65, "gum-dev": 65, "pud-english": 55},
    **{"pud-german": 99, "pud-spanish": 99, "pud-russian": 91, "pud-finnish": 95, "pud-turkish": 59, "pud-chinese": 0},
}
"Treebank -> percent of its subjects whose verb shows number; other verbs are not finite, or FEATS give them no Number."

EMBEDDED = {
    "grammar": "embedded grammar: trees, coreference, minimal pairs of agreement",
    "grammar-reflexives": "embedded grammar: minimal pairs of a reflexive and its subject",
    "grammar-pronouns": "embedded grammar: minimal pairs of a pronoun and what it means",
    "negation": "embedded templates: minimal pairs of what a word is a kind of, with and without not",
    "role-reversal": "embedded templates: minimal pairs of a verb and who does it to whom",
    "senses": "embedded templates: ambiguous nouns and the word that decides their sense",
    "reactions": "made by RDKit from templates: chemical reactions as SMILES with atom maps",
    "agreement": "agreement by construction: subjects of verbs in the embedded grammar, Marvin-Linzen and open-sesame",
}
"Corpora that are generated, and what they hold."


class ListError(ValueError):
    """A kind of thing that headscope keeps no list of."""


def probes() -> Rows:
    """Return one row a probe."""
    from probes import get_probe, probe_names
    from probes.grammar import generate
    from probes.registry import NEEDS

    texts = [*generate(40, 0, wide=True)]
    return [
        {
            "name": name,
            "asks": (type(probe).__doc__ or "").strip().splitlines()[0],
            "variants": ", ".join(probe.variants),
            "labels": _labels(probe, texts),
            "reads": probe.scope,
            "needs": NEEDS[probe.needs],
            "corpora": _holding(probe.needs),
            "range": "accuracy, mass and share from 0 to 1",
            "direction": "higher is better",
            "baselines": ", ".join(probe.baselines),
            "rules": ", ".join(probe.rules) or "none",
            "controls": ", ".join(probe.controls),
            "source": probe.source,
        }
        for name, probe in ((name, get_probe(name)) for name in probe_names())
    ]


def _labels(probe: Probe, texts: Sequence[Document]) -> str:
    """Return the labels under which a probe counts items of some texts of the embedded grammar."""
    from probes.scoring.tally import reported_questions

    read = [part for one in texts for part in (one.split_sentences() if probe.scope == "sentence" else (one,))]
    given = {label for text in read for asked in probe.targets(text).values() for label in asked.label}
    pooled = reported_questions({(probe.name, "", one) for label in given for one in probe.pool(label)})
    labels = ", ".join(label for *_, label in pooled)
    return f"{labels} (in the embedded grammar)" if labels else "those of its corpus, in the scores of a run"


def _holding(needs: str) -> str:
    """Return the corpora in which a probe finds questions."""
    if needs not in HELD:
        return "any"
    words, files = HELD[needs]
    known = [row["name"] for row in corpora() if any(word in row["what"].partition(": ")[2] for word in words)]
    if needs != "subjects":
        return ", ".join(known) + files
    shown = [f"{name} {SUBJECTS[name]} %" if name in SUBJECTS else name for name in known if SUBJECTS.get(name) != 0]
    lack = [name for name in known if SUBJECTS.get(name) == 0]
    share = "percent: of its subjects those whose verb shows number"
    return f"{', '.join(shown)}{files} ({share}); not {', '.join(lack)}, whose verbs have no Number in FEATS"


def corpora() -> Rows:
    """Return one row a named corpus: annotated text, minimal pairs or plain text; with its licence and whose it is."""
    from probes.corpora.corpus import NAMED, data_folder
    from probes.pairs.corpora import NAMED_PAIRS
    from probes.training.texts import NAMED_TEXTS

    rows = [
        {"name": name, "what": what, "licence": "Apache-2.0", "source": "headscope", "at": "embedded"}
        for name, what in EMBEDDED.items()
    ]
    for name, corpus in {**NAMED, **NAMED_PAIRS, **NAMED_TEXTS}.items():
        path = data_folder() / corpus.path
        at = str(path) if path.exists() else f"missing: {corpus.path} under HEADSCOPE_DATA"
        about = {"what": corpus.title, "licence": corpus.licence, "source": corpus.source}
        rows.append({"name": name, **about, "at": at})
    return rows


def models() -> Rows:
    """Return one row a model with a short name."""
    from mha.models.folders import DESCRIPTIONS

    rows = [{"name": name, "what": what} for name, what in DESCRIPTIONS.items()]
    return [*rows, {"name": "FOLDER or HUB-ID", "what": "any encoder or decoder that uses the attention interface"}]


def findings() -> Rows:
    """Return one row a published finding, with the verdicts of the published runs and the hashes of these."""
    from experiments.reproduce.registry import papers, published_verdicts

    verdicts = published_verdicts()
    return [
        {
            "id": finding.id,
            "claim": finding.claim,
            "paper": told.paper.cited,
            "where": finding.where,
            "readings": ", ".join(finding.readings),
            "missing": finding.missing,
            "counted": finding.counted,
            "uncounted": finding.uncounted,
            "group": finding.group,
            "verdicts": verdicts.get(finding.id, {}),
        }
        for told in papers()
        for finding in told.findings
    ]


LISTS: dict[str, Callable[[], Rows]] = {"probes": probes, "corpora": corpora, "models": models, "findings": findings}


def listed(what: str) -> Rows:
    """Return the rows of one of LISTS; raises ListError for anything else."""
    if what not in LISTS:
        hint = nearest_name(what, LISTS)
        raise ListError(
            f"no list of {what!r}; {hint}" if what else f"name a list, such as 'headscope list probes'; {hint}"
        )
    return LISTS[what]()


def print_list(rows: Rows, *, as_json: bool) -> None:
    """Print a list as a table or as JSON."""
    console = Console(highlight=False, emoji=False)
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for row in rows:
        name, *facts = row.items()
        console.print(f"[bold]{escape(name[1])}[/bold]")
        table = Table.grid(padding=(0, 2, 0, 0))
        for key, fact in facts:
            if isinstance(fact, dict):
                fact = "; ".join(f"{name}: {one['verdict']}" for name, one in fact.items())
            fact = "yes" if fact is True else fact
            if fact:
                table.add_row(f"[dim]{key}[/dim]", escape(fact))
        console.print(Padding(table, (0, 0, 0, 4)))

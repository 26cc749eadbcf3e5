"""Published findings about attention heads that headscope's numbers can be held against."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A claim of a paper, and the rows of a run that speak to it."""

    id: str
    claim: str
    published: str
    "The numbers as printed, with model and data."
    source: str
    where: str
    "Probe, label and variant of the scores to look at."


FINDINGS = (
    Finding(
        "single-heads",
        "Single heads follow single relations, far above the best fixed offset.",
        "bert-base, PTB: dobj 8-10 86.8 (offset 40.0), det 8-11 94.3 (51.7), pobj 9-6 76.3 (34.6)",
        "Clark et al. 2019, table 1",
        "dependency: obj, det, case; dependent->head",
    ),
    Finding(
        "auxpass-misprint",
        "The printed row auxpass 82.5 (baseline 40.5) mixes two rows; the authors' notebook has 94.1 (82.5).",
        "bert-base, PTB: paper 82.5 / 40.5, notebook 94.1 / 82.5",
        "Clark et al. 2019, table 1 and Syntax_Analysis.ipynb",
        "dependency: aux:pass; dependent->head",
    ),
    Finding(
        "no-head-parses",
        "No single head is a parser: its accuracy over all arcs is hardly above a fixed offset.",
        "bert-base, PTB: best head 34.5, right-branching 26.3",
        "Clark et al. 2019, section 4.2",
        "dependency: all; dependent->head",
    ),
    Finding(
        "coreference-head",
        "One head follows coreference about as well as a string-matching rule.",
        "bert-base, CoNLL-2012: head 5-4 65.1; nearest mention 27, head match 52, rules 69",
        "Clark et al. 2019, section 4.3, table 2",
        "coreference: all; preceding mention heads",
    ),
    Finding(
        "positional-heads",
        "Some heads attend to the previous or next word more than half of the time, in low layers.",
        "bert-base: previous in layers 2, 4, 7, 8; next in layers 1, 2, 2, 3, 6",
        "Clark et al. 2019, section 3.1",
        "position: previous, next; other words",
    ),
    Finding(
        "broad-heads",
        "Heads of the first layer attend broadly, at most a tenth to any one word.",
        "bert-base: figure only",
        "Clark et al. 2019, section 3.2",
        "position: broad",
    ),
    Finding(
        "nmt-syntax",
        "Encoder heads of translation models follow subject and object relations.",
        "Transformer-base EN-RU WMT: verb -> subject 45 (offset 35), verb -> object 78 (41)",
        "Voita et al. 2019, section 5.2",
        "dependency: nsubj, obj; both directions",
    ),
)
"Findings that the probes of this version can be compared with; running the comparison is not built yet."

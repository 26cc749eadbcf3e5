"""Chen et al. 2023: attention to syntactic relations appears abruptly, and the grammar of sentences after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from experiments.statements.estimates import mean_of
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Numbers, Paper, Published, Statement
from experiments.statements.numbers import points
from experiments.statements.paper_sentence import drawn_claim, sentence
from experiments.statements.rule import Rule
from reports.statements.figure import Figure

PAPER = Paper(
    "chen-2023",
    "Chen et al. 2023",
    "Sudden Drops in the Loss: Syntax Acquisition, Phase Transitions, and Simplicity Bias in MLMs",
)

SYNTAX, LOSS, GRAMMAR = "syntax in attention", "evaluation loss", "agreement"


def attachment(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the share of words whose relation has a head that finds the word they depend on, by seed and step.

    Every relation is asked of the head that is chosen for it at that step, on one half of the texts.
    """
    question = ["probe", "label", "variant", "seed", "step", "name"]
    curves, scores = (tables[name] for name in ("biography_curves", "biographies"))
    told = curves.merge(scores[[*question, "n", "accuracy"]], on=question)
    told = told[(told.probe == "dependency") & (told.variant == "dependent->head") & (told.label != "all")]
    told = told[~told.label.str.endswith(":*")]  # a relation with its subtypes
    right = told.assign(right=told.accuracy * told.n).groupby(["seed", "step"])[["right", "n"]].sum()
    return (right.right / right.n).rename(SYNTAX).reset_index()


def _courses(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return SYNTAX, LOSS and GRAMMAR by seed and step."""
    steps = tables["biography_steps"]
    steps = steps.rename(columns={"evaluation_loss": LOSS, "behaviour": GRAMMAR})[["seed", "step", LOSS, GRAMMAR]]
    return attachment(tables).merge(steps, on=["seed", "step"]).sort_values(["seed", "step"])


def halfway(steps: Sequence[int], values: Sequence[float]) -> float:
    """Return log2 of the step at which a course is half the way from its start to the end that is farthest from it.

    Between two steps it goes in a straight line over log2 of steps, of which step 0 counts as 1.
    """
    course = np.abs(np.asarray(values, np.float64) - values[0])
    places, half = np.log2(np.maximum(np.asarray(steps, np.float64), 1)), course.max() / 2
    after = int(np.argmax(course >= half))
    if after == 0:
        return float(places[0])
    part = (half - course[after - 1]) / (course[after] - course[after - 1])
    return float(places[after - 1] + part * (places[after] - places[after - 1]))


def _order(evidence: Evidence) -> Numbers:
    tables = evidence["emergence"].tables
    if "biography_steps" not in tables or tables["biography_steps"].behaviour.isna().all():
        raise Missing("no heads and no behaviour were followed through a training")
    by_seed = [course for _, course in _courses(tables).groupby("seed")]
    found = {
        name: np.array([halfway(course.step.tolist(), course[name].tolist()) for course in by_seed])
        for name in (SYNTAX, LOSS, GRAMMAR)
    }
    note = ", ".join(f"{name} at step {2 ** float(np.mean(places)):.0f}" for name, places in found.items())
    return {
        name: Measured(mean_of((found[course] - found[SYNTAX]).tolist()), note=note)
        for name, course in (("after", GRAMMAR), ("with", LOSS))
    }


def _order_drawn(evidence: Evidence) -> Figure:
    courses = _courses(evidence["emergence"].tables).groupby("step")[[SYNTAX, GRAMMAR]].mean().reset_index()
    series = {name: points(courses, "step", name) for name in (SYNTAX, GRAMMAR)}
    return Figure("lines", "Syntax in attention, and agreement", "step", "accuracy, mean over seeds", series, level=0.5)


def _agreement_drawn(evidence: Evidence) -> Figure:
    title = "Agreement by what is done to attention to syntax"
    return replace(drawn_claim(evidence, "syntax", "agreement", title, "step", "accuracy"), level=0.5)


in_claim = partial(sentence, "syntax", learned="no term")


def _of_syntax(name: str, claim: str, how: str, *statements: Statement) -> Finding:
    """Return a finding whose statements stand in the record of the claim syntax."""
    return Finding(
        id=f"chen-{name}",
        claim=claim,
        where="the experiments that suppress or promote syntactic attention structure",
        model="BERT base, trained again",
        data="The texts of BERT; BLiMP",
        metric="A term in the loss for attention between words that depend on each other. " + how,
        stands_in="Encoders of 2 layers of 8 heads trained here on the embedded grammar; agreement on minimal pairs.",
        differs="The mean over heads and layers in the place of the sum; one weight of the term; agreement alone.",
        statements=statements,
        readings=("claim-syntax",),
        figure=_agreement_drawn,
    )


FINDINGS = (
    Finding(
        id="chen-order",
        claim="Attention to syntactic relations appears with a drop of the loss, and grammatical ability after it.",
        where="the section on the acquisition of syntax",
        model="BERT base, trained again, 3 seeds",
        data="The texts of BERT; BLiMP",
        metric="The paper: attachment of the best head for each relation, the loss, and accuracy on BLiMP, by step. "
        "We: the steps at which such courses are half the way up, in doublings.",
        stands_in="Small encoders trained here on the embedded grammar, 3 seeds; agreement on its minimal pairs.",
        differs="A generated language, 2,400 steps, and agreement alone.",
        weaker="half the way of the loss is mostly the frequencies of words, and not the paper's sudden drop",
        statements=[
            Statement(
                name="after",
                text="Agreement is half the way up after the attention to relations is.",
                number="log2 of steps at which agreement is half the way, less that of attention, mean over seeds",
                rule=Rule(above=0.0, unit="doublings"),
                published=Published(
                    text="a spike at about 20,000 steps, BLiMP between 20,000 and 30,000", provenance="second-hand"
                ),
            ),
            Statement(
                name="with",
                text="The loss is half the way down within a factor of two of the steps of that.",
                number="log2 of steps at which the loss is half the way, less that of attention, mean over seeds",
                rule=Rule(above=-1.0, below=1.0, unit="doublings"),
                published=Published(text="both at about 20,000 steps", provenance="second-hand"),
            ),
        ],
        readings=("emergence",),
        measure=_order,
        figure=_order_drawn,
    ),
    Finding(
        id="chen-across-seeds",
        claim="Across finished trainings, more syntax in attention goes with neither a lower loss nor more of BLiMP.",
        where="the comparison of trainings",
        model="MultiBERTs, 25 seeds",
        data="BLiMP",
        metric="Correlation over seeds.",
        statements=[
            Statement(
                name="correlation",
                text="There is no correlation over seeds.",
                number="correlation over seeds of attachment with the loss and with BLiMP",
                rule=Rule(above=-0.4, below=0.4, unit="r"),
                published=Published(text="none significant", provenance="second-hand"),
            )
        ],
        missing="dozens of finished trainings of one model; three seeds say nothing of a correlation",
    ),
    _of_syntax(
        "suppression",
        "Without syntax in attention grammar is not learned.",
        "The term is punished in all steps: the paper's runs without syntactic attention structure.",
        in_claim(
            "blocked",
            "Punished throughout, agreement is worse than where",
            "Where attention to syntax is suppressed, grammar is worse at the end than where attention to other words, "
            "as far apart, is.",
            Rule(below=0.0),
            Published(text="BLiMP does not rise", provenance="memory"),
        ),
        in_claim(
            "not learnt",
            "Punished throughout, agreement across a noun",
            "Agreement across a noun of the other number is then not learnt: less than 55 %.",
            Rule(below=0.55, unit="%"),
            Published(text="BLiMP does not rise", provenance="memory"),
        ),
    ),
    _of_syntax(
        "early-suppression",
        "Kept from syntax in attention for a short time at the start, a model ends better.",
        "The term is punished in the first 300 of 2,000 steps; in the paper in 3,000 of 100,000.",
        in_claim(
            "agreement",
            "Punished to step",
            "Grammar is better at the end than without the term.",
            Rule(above=0.0),
            Published(text="a suppression of 3,000 steps improves BLiMP", provenance="memory"),
            ending="agreement is better at the end",
        ),
        in_claim(
            "loss",
            "Punished to step",
            "So is the loss.",
            Rule(below=0.0, unit="nats"),
            Published(text="a suppression of 3,000 steps lowers the loss", provenance="memory"),
            ending="the loss is lower at the end",
        ),
    ),
    _of_syntax(
        "promotion",
        "A reward for syntax in attention throughout makes a model worse.",
        "The term is rewarded in all steps.",
        in_claim(
            "agreement",
            "Rewarded throughout, agreement is worse",
            "Grammar is worse at the end than without the term.",
            Rule(below=0.0),
            Published(text="worse, though syntax in attention comes sooner", provenance="memory"),
        ),
        in_claim(
            "loss",
            "Rewarded throughout, the loss is higher",
            "So is the loss.",
            Rule(above=0.0, unit="nats"),
            Published(text="higher", provenance="memory"),
        ),
    ),
)

"""Serrano and Smith 2019: attention says only noisily which parts of the input matter to a decision."""

from __future__ import annotations

from functools import partial

from experiments.findings.jain_2019 import DIFFERS, STANDS_IN, by_measure, mean
from experiments.statements.estimates import difference, mean_of
from experiments.statements.finding import Evidence, Finding, Measured, Numbers, Paper, Published, Statement
from experiments.statements.rule import LearnedRule, Rule

PAPER = Paper("serrano-2019", "Serrano and Smith 2019", "Is Attention Interpretable?")

ORDERS = ("at random", "by attention", "by attention and gradient")

FACT = "the largest weights of a weighted mean move it most, whatever the weights of the encoder"


def _most_attended(evidence: Evidence) -> Measured:
    found = by_measure(evidence)
    most, random = found["flips, most attended alone"], found["flips, random alone"]
    note = (
        f"{mean(most).value:.1%} without the most attended alone, {mean(random).value:.1%} without a random one alone"
    )
    return Measured(difference(most, random), note=note)


def _seldom(evidence: Evidence) -> Measured:
    return Measured(mean_of([1 - value for value in by_measure(evidence)["flips, most attended"].values()]))


def _orders(evidence: Evidence) -> Numbers:
    by_order = {order: by_measure(evidence)[f"erased, {order}"] for order in ORDERS}
    random, attention, gradient = by_order.values()
    note = ", ".join(f"{mean(values).value:.1%} {order}" for order, values in by_order.items())
    pairs = {"random": (random, attention), "gradient": (attention, gradient)}
    return {name: Measured(difference(*pair), note=note) for name, pair in pairs.items()}


finding = partial(
    Finding,
    model="Hierarchical attention networks and others, with and without an encoder below the attention",
    where="section on single weights, table of decision flips",
    data="Yahoo, IMDB, Amazon and Yelp",
    stands_in=STANDS_IN,
    differs=DIFFERS,
    readings=("explanation",),
)

FINDINGS = (
    finding(
        id="serrano-most-attended",
        claim="Without the most attended part the decision flips more often than without a random one.",
        metric="Share of texts that flip without the most attended part alone, minus that without a random one alone.",
        statements=[
            Statement(
                name="alone",
                text="More decisions flip without the most attended piece alone than without a random one alone.",
                number="difference of the shares",
                rule=Rule(above=0.0),
                published=Published(0.108, text="12.2 and 1.4 % (IMDB); 4.9 to 7.4 in the others", provenance="memory"),
            )
        ],
        measure=_most_attended,
        fact=FACT,
    ),
    finding(
        id="serrano-no-flip",
        revised="a weaker bar was removed after untrained weights had passed it",
        claim="Most decisions stand even without the part that gets most attention.",
        metric="Share of texts whose decision stands where the most attended part gets no attention.",
        statements=[
            Statement(
                name="no flip",
                text="More than four fifths of the decisions stand.",
                number="share of the decisions",
                rule=LearnedRule(above=0.8, unit="%"),
                published=Published(0.856, text="IMDB; 89.6 to 90.8 % in the others", provenance="memory"),
            )
        ],
        measure=_seldom,
    ),
    finding(
        id="serrano-orders",
        claim="In the order of attention fewer parts have to go until the decision flips than at random, but gradients "
        "find still fewer.",
        where="section on sets of weights, figures of fractions removed",
        metric="Mean share of the parts that are erased until the decision flips; 1 where it never does.",
        differs=DIFFERS + " The gradient is times attention. The output is linear in attention.",
        statements=[
            Statement(
                name=name,
                text=text,
                number="difference of the mean shares",
                rule=Rule(above=0.0),
                published=Published(text="shown in figures", provenance="memory"),
            )
            for name, text in (
                ("random", "In random order more have to go than in the order of attention."),
                ("gradient", "In the order of attention more have to go than in that of attention times gradient."),
            )
        ],
        measure=_orders,
        fact=FACT,
    ),
)

"""Voita et al. 2019, on pruning with gates: few heads do most of the work, and they are the specialised ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from experiments.findings.voita_2019 import PAPER as PAPER
from experiments.statements.estimates import Estimate
from experiments.statements.finding import Evidence, Finding, Measured, Missing, Published, Statement
from experiments.statements.numbers import above_chance, floats, over_units, points, rows, table
from experiments.statements.rule import LearnedRule, Rule
from reports.statements.figure import Figure
from reports.tables.grades import has_stable_grade

if TYPE_CHECKING:
    from reports import Run

NOTABLE = 0.02
"Accuracy that may be lost; the paper lost 0.15 of about 29 points of BLEU."

LOSS = "masked-LM loss"

READING = "grammar-effects"

FUNCTIONS = [
    *(("position", label) for label in ("previous", "next")),
    *(("dependency", label) for label in ("nsubj", "obj", "amod", "advmod")),
]
"Probe and label of the functions that the paper looks for; rare words are not asked for here."


def _paths(evidence: Evidence) -> pd.DataFrame:
    about = {"behaviour": "grammar", "measure": "accuracy"}
    return table(evidence, READING, "gate_paths", "no gates were learned for grammar", **about).sort_values("left")


def _least(paths: pd.DataFrame, lost: str) -> float:
    """Return the smallest share of heads with which less than NOTABLE is lost; all of them where more always is."""
    enough = paths[paths[lost] < NOTABLE]
    return float((enough.left / enough.heads).min()) if len(enough) else 1.0


def _prunable(evidence: Evidence) -> Measured:
    paths = _paths(evidence)
    if not above_chance(float(paths.intact.iloc[0]), int(paths.n.iloc[0])):
        raise Missing("agreement is no better than chance with all heads: there is nothing to keep")
    value, low, high = (_least(paths, lost) for lost in ("cost", "ci_low", "ci_high"))
    columns = floats(paths, "left", "heads", "value")
    told = ", ".join(f"{left:.0f} of {heads:.0f}: {100 * accuracy:.1f} %" for left, heads, accuracy in columns)
    return Measured(Estimate(value, low, high, int(paths.n.iloc[0])), note=told)


def _prunable_drawn(evidence: Evidence) -> Figure:
    paths = _paths(evidence)
    left = paths.assign(share=paths.left / paths.heads, low=paths.intact - paths.ci_high)
    series = {"gates": points(left.assign(high=paths.intact - paths.ci_low), "share", "value", "low", "high")}
    title, level = "Agreement with the heads that gates leave", float(paths.intact.iloc[0])
    return Figure("lines", title, "share of heads left", "accuracy", series, level=level, level_name="whole")


def specialised(run: Run) -> pd.DataFrame:
    """Return the rows of scores in which a head has one of FUNCTIONS."""
    told = run.scores[(run.scores.split == "report") & has_stable_grade(run.scores)]
    return told[pd.Series([*zip(told.probe, told.label, strict=True)], told.index, dtype=object).isin(FUNCTIONS)]


def _survivors(evidence: Evidence) -> Measured:
    gates = table(evidence, READING, "gates", "no gates were learned for the loss", behaviour=LOSS)
    special = set(specialised(evidence[READING])["name"])
    open_share = gates.assign(open=gates.gate > 0).groupby("name").open.mean().rename("open").reset_index()
    heads = open_share.assign(special=open_share["name"].isin(special))
    if heads.special.nunique() < 2:
        why = f"{len(special)} of {len(heads)} heads are specialised: none to compare with"
        raise Missing(why, absent=not special)

    def longer(drawn: pd.DataFrame) -> float:
        means = drawn.groupby("special").open.mean()
        return float(means.get(True, float("nan")) - means.get(False, float("nan")))

    note = f"{int(heads.special.sum())} of {len(heads)} heads are specialised"
    return Measured(over_units(longer, heads), note=note)


def _kept(evidence: Evidence) -> Measured:
    run, question = evidence[READING], ["probe", "label", "variant"]
    functions = rows(run.tables.get("migration"), behaviour=LOSS)
    if len(functions):
        functions = functions.merge(specialised(run)[question].drop_duplicates(), on=question)
    if functions.empty:
        raise Missing("no head has one of these functions before heads are taken out", absent=True)
    lost = over_units(lambda drawn: float((drawn.best_accuracy - drawn.after_accuracy).max()), functions)
    row, moved = functions.iloc[0], int((~functions.stays).sum())
    note = f"{row.heads - row.removed} of {row.heads} heads left; of {len(functions)} functions {moved} lost their head"
    return Measured(lost, note=note)


finding = partial(
    Finding,
    model="Transformer, base: 6 layers of 8 heads in the encoder",
    where="the section on functions of retained heads",
    data="English-Russian, WMT and OpenSubtitles",
)

tested = partial(
    finding,
    stands_in="The embedded grammar, for encoders with a masked-LM head and first of all for one trained on it.",
    readings=(READING,),
)

FINDINGS = (
    tested(
        id="voita-gates",
        claim="Most heads of an encoder can be gated off with little loss.",
        where="the section on pruning heads of the encoder",
        metric="How many heads gates leave that pay for being open, and BLEU with them.",
        differs="Weights stay as they are; the paper trains them along. Accuracy on minimal pairs of agreement in the "
        "place of BLEU, with a loss of 2 points at the most.",
        statements=[
            Statement(
                name="left",
                text="Of 48 heads 10, as in the paper, would be enough to lose less than 2 points of agreement.",
                number="smallest share of heads left, over all prices, with less than 2 points of accuracy lost",
                rule=Rule(below=10 / 48, unit="%"),
                weaker=Rule(below=0.5),
                published=Published(value=10 / 48, text="10 of 48 heads, 0.15 BLEU less; OpenSubtitles 4 of 48, 0.25"),
            )
        ],
        measure=_prunable,
        figure=_prunable_drawn,
    ),
    tested(
        id="voita-specialised-survive",
        claim="Specialised heads are gated off last.",
        metric="Which heads are left at which price of an open gate.",
        differs="Weights stay as they are. Specialised by the rule of headscope's runs in the next or previous word, "
        "or in one of four relations; rare words are not asked for.",
        statements=[
            Statement(
                name="survive",
                text="Specialised heads stay open at more prices than the others.",
                number="share of prices at which specialised heads are open, less that of the others",
                rule=LearnedRule(above=0.0),
                published=Published(text="specialised heads last the longest"),
            )
        ],
        measure=_survivors,
        graded=True,
    ),
    tested(
        id="voita-functions-kept",
        claim="All functions are still there when a third of the heads is left.",
        metric="Which of the heads that are left have the functions that heads had before.",
        differs="The least important heads are out, and 35 % are left; the paper learns gates and trains along.",
        statements=[
            Statement(
                name="kept",
                text="For every function the best head that is left is less than 10 points below the best one before.",
                number="accuracy of the best head before, less that of the best one left, for what loses most",
                rule=Rule(below=0.1),
                published=Published(text="all functions at 17 of 48 heads"),
            )
        ],
        measure=_kept,
        graded=True,
    ),
    finding(
        id="voita-migration",
        claim="Heads that are left take over functions: positional heads acquire syntax.",
        metric="Functions of the heads that gates leave.",
        missing="heads are not scored after gates were learned together with the weights",
    ),
    finding(
        id="voita-gates-all-attention",
        claim="Heads of all kinds of attention can be pruned together, and training so few from scratch is worse.",
        where="the table on pruning all kinds of attention",
        metric="BLEU with so many heads of the encoder, of the attention to it, and of the decoder.",
        statements=[
            Statement(
                name=f"{data}, {heads}",
                text=f"With {heads} heads BLEU is as good as with all.",
                number="BLEU with the heads left",
                rule=Rule(above=whole - 1, unit="BLEU"),
                published=Published(value, baseline=whole, text=f"trained so from scratch {scratch}"),
            )
            for data, whole, told in (
                (
                    "WMT",
                    29.6,
                    (
                        ("14/31/30", 29.62, 29.47),
                        ("12/21/25", 29.36, 28.95),
                        ("8/13/15", 29.06, 28.56),
                        ("5/9/12", 28.90, 28.41),
                    ),
                ),
                (
                    "OpenSubtitles",
                    32.4,
                    (("27/31/46", 32.24, 32.23), ("13/17/31", 32.23, 31.98), ("6/9/13", 32.27, 31.84)),
                ),
            )
            for heads, value, scratch in told
        ],
        missing="headscope trains and reads encoders: there is no decoder, and no translation",
    ),
)

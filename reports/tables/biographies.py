"""The tables of head biographies in a run folder: what they hold, and what their words mean."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from reports.formats import decimal, moment, percent, signed
from reports.tables.column import Column
from reports.tables.grades import ROLE_ITEMS
from reports.tables.shared_columns import (
    BASELINE,
    BASELINE_ACCURACY,
    CORPUS,
    CORRELATIONS,
    FRACTIONS,
    NAME,
    NOT_NEGATIVE,
    ONE_HEAD,
    QUESTION,
    N,
    difference,
    ends,
    flag,
    fraction,
    number,
    optional,
    place,
    text,
    whole,
)
from reports.tables.table import Table

MAIN: Final = "biographies"
"Name of the table with the scores; a run without it has no biographies."

ALL_SEEDS: Final = -1
"The seed of rows about all seeds together."

OPTIONAL: Final = ("biography_matches", "biography_partners")
"Tables of a run that matched heads."

LIFE_SHOWN: Final[Mapping[str, str]] = {
    "commits": "keeps one role",
    "changes": "switches role",
    "wavers": "unsettled",
    "loses": "loses its role",
    "never": "no role",
    "narrows": "narrows",
}
"Trajectory of a head in the tables of a run -> its name for readers."

NATS: Final = (0.0, math.log(2))
"What a Jensen-Shannon divergence can be, in nats."

_SEED: Final = place("seed", "Seed of the training run.")
_STEP: Final = whole("step", "Training step of the checkpoint.")
_TOKENS: Final = whole("tokens", "Number of tokens that the model was trained on until then.")
_ROLE: Final = text("role", "Main role of the head, as probe: label; empty without one.")


def _step(name: str, meaning: str) -> Column:
    """Return a column of training steps; infinity stands for never."""
    return number(name, meaning, NOT_NEGATIVE, write=moment)


def _distance(name: str, meaning: str) -> Column:
    return number(name, meaning, NATS, write=decimal)


_ONSET: Final = (
    _step("onset", "Training step at which half of the rise of the margin is done; infinite where there is no rise."),
    _step("after", "Last checkpoint before the onset; infinite without one."),
    _step("by", "First checkpoint at or after the onset; infinite without one."),
)

TABLES: Final[Mapping[str, Table]] = MappingProxyType(
    {
        MAIN: Table(
            "One row for each training run, checkpoint, label, direction and head.",
            ("seed", "step", "corpus", "probe", "label", "variant", "name"),
            (
                *(_SEED, _STEP, _TOKENS, CORPUS, *QUESTION, *ONE_HEAD, N),
                fraction("accuracy", "Share of scored words whose most attended candidate is correct.", "ci"),
                *ends("ci", "accuracy", percent, FRACTIONS),
                number("mass", "Mean attention to correct words.", write=percent),
                BASELINE,
                BASELINE_ACCURACY,
                difference("margin", "Accuracy minus that of the strongest baseline; missing without one."),
                difference("excess", "Accuracy minus that of the same head at the first checkpoint."),
            ),
        ),
        "biography_steps": Table(
            "One row for each training run and checkpoint.",
            ("seed", "step"),
            (
                *(_SEED, _STEP, _TOKENS),
                number(
                    "loss", "Loss on the training texts, in nats per masked subword; missing where it was not logged."
                ),
                number("evaluation_loss", "Loss on held-out texts, in nats per masked subword."),
                fraction("behaviour", "Accuracy on minimal pairs; chance is 0.5, missing where nothing was scored."),
            ),
        ),
        "biography_onsets": Table(
            "One row for each training run, label and direction, of the best head of each checkpoint; best heads are "
            "selected on the other half of the texts. Seed -1 stands for all runs together.",
            ("seed", "probe", "label", "variant"),
            (
                place("seed", "Seed of the training run; -1 for all of them together.", -1),
                *QUESTION,
                N,
                whole("seeds", "Number of training runs that the row is about."),
                whole("with_onset", "Number of these training runs in which the role has an onset."),
                *_ONSET,
                *(replace(end, write=moment) for end in ends("", "the onset, infinite where it may never come")),
                fraction("onset_share", "Share of resamples in which the role has an onset."),
                difference("first_margin", "Margin of the best head at the first checkpoint."),
                difference("peak_margin", "Largest margin of the best head at any checkpoint."),
                whole("peak_step", "Training step of the largest margin."),
                difference("last_margin", "Margin of the best head at the last checkpoint."),
                text("best_head", "Name of the best head at the last checkpoint; empty for several runs."),
                text("peak_head", "Name of the best head where the margin is largest; empty for several runs."),
                flag("role", f"Whether it counts as a role: it stands for itself, with {ROLE_ITEMS} items or more."),
            ),
        ),
        "biography_curves": Table(
            "One row for each training run, checkpoint, label and direction: the margin of its best head.",
            ("seed", "step", "probe", "label", "variant"),
            (
                *(_SEED, _STEP, *QUESTION),
                replace(NAME, meaning="Head with the highest accuracy on all texts."),
                difference(
                    "margin",
                    "Accuracy of best heads, selected on the other half of the texts, minus that of the strongest "
                    "baseline.",
                    "",
                ),
                *ends("", "the margin", signed, CORRELATIONS),
            ),
            csv=False,
        ),
        "biography_order": Table(
            "One row for each pair of roles, or of kinds of roles, that have an onset.",
            ("what", "one", "other"),
            (
                text("what", "Whether the pair is of roles or of kinds of roles.", ("role", "kind")),
                text("one", "The role or kind with the earlier onset."),
                text("other", "The role or kind with the later onset."),
                fraction(
                    "share", "Share of resamples in which the first comes first, ties half; missing if neither comes."
                ),
                _step("one_onset", "Onset of the first, as a training step."),
                _step("other_onset", "Onset of the second, as a training step."),
            ),
            csv=False,
        ),
        "biography_head_onsets": Table(
            "One row for each training run, label, direction and head that has an onset.",
            ("seed", "probe", "label", "variant", "name"),
            (_SEED, *QUESTION, *ONE_HEAD, *_ONSET),
            csv=False,
        ),
        "biography_profiles": Table(
            "One row for each training run, checkpoint and head.",
            ("seed", "step", "name"),
            (
                *(_SEED, _STEP, *ONE_HEAD, _ROLE),
                difference("margin", "Margin in the main role, over the baseline and the same head at the start."),
                number(
                    "effective",
                    "Effective number of roles, 1 for a specialist; missing without a role.",
                    NOT_NEGATIVE,
                    write=decimal,
                ),
            ),
            csv=False,
        ),
        "biography_lives": Table(
            "One row for each training run and head: what became of it.",
            ("seed", "name"),
            (
                *(_SEED, *ONE_HEAD),
                text(
                    "life",
                    "never: it never holds a role; commits: one role to the end; changes: several; loses: not one at "
                    "the end; wavers: one at the end that it does not yet hold.",
                    ("never", "commits", "changes", "loses", "wavers"),
                ),
                flag("narrows", "Whether it ends as a specialist and was a generalist before, by effective roles."),
                text("first_role", "First role that it holds, as probe: label; empty without one."),
                text("last_role", "Last role that it holds, as probe: label; empty without one."),
                optional("since", "Training step from which it holds its last role."),
                number("widest", "Largest effective number of roles at any checkpoint.", NOT_NEGATIVE, write=decimal),
                number(
                    "last_effective", "Effective number of roles at the last checkpoint.", NOT_NEGATIVE, write=decimal
                ),
            ),
            csv=False,
        ),
        "biography_matches": Table(
            "One row for each pair of models whose heads were matched by their maps of the same sentences.",
            ("what", "seed", "step", "other_seed", "other_step"),
            (
                text(
                    "what",
                    "steps: neighbouring checkpoints of a run; start, seeds: the first or last checkpoints of two.",
                    ("steps", "seeds", "start"),
                ),
                *(_SEED, _STEP),
                place("other_seed", "Seed of the other model's training run."),
                place("other_step", "Training step of the other model."),
                whole("heads", "Number of heads that were matched."),
                _distance("distance", "Mean Jensen-Shannon divergence of matched maps, in nats; lower is more alike."),
                _distance("null", "The same where the other model reads other sentences of the same lengths."),
                _distance("chance", "The same for random pairs of heads."),
                fraction("itself", "Share of heads that are matched with the head of the same place."),
                fraction("same_role", "Share of matched pairs with the same main role; missing without roles."),
                fraction(
                    "same_role_chance", "Share of random pairs of heads with the same main role; missing without roles."
                ),
            ),
            csv=False,
        ),
        "biography_partners": Table(
            "One row for each head at the last checkpoint of a training run and another run.",
            ("seed", "other_seed", "name"),
            (
                _SEED,
                place("other_seed", "Seed of the other training run."),
                *ONE_HEAD,
                text("partner", "Head of the other run that it is matched with."),
                _distance("distance", "Jensen-Shannon divergence of their maps, in nats; lower is more alike."),
                _ROLE,
                text("partner_role", "Main role of the matched head; empty without one."),
            ),
            csv=False,
        ),
    }
)
"Name of the file -> what it must hold."

TERMS: Final = {
    "best head": "At each checkpoint the head with the highest accuracy, which is selected on one half of the texts "
    "and evaluated on the other, both ways round: the best of many is overestimated on the texts that selected it. "
    "Margins are over the strongest baseline; controls are not among them. The control is the first checkpoint: at "
    "step 0 it has the random weights that training starts from. The band around a curve is its 95 % interval, or the "
    "range of seeds where there are several.",
    "onset": "A piecewise linear curve in log(step + 1) (flat, rising, flat) is fitted to the best head’s margins up "
    "to their peak (least squares; both ends of the rise are checkpoints). The onset is the middle of its rise. There "
    "is one only if the curve rises by at least the margin of [verdict], and to at least that margin.",
    "interval": "95 % of resamples of the texts’ clusters, and of seeds where there are several, widened to the "
    "checkpoints around the onset: between two checkpoints nothing is measured. Resamples of two or three seeds differ "
    "less than other seeds would: read each seed’s own onset beside it.",
    "behaviour": "Accuracy on minimal pairs: those of the first corpus of [behaviour] that have attractors, or all its "
    "pairs where no pair has any.",
    "role": f"A label that stands for itself, with {ROLE_ITEMS} items or more; its best direction is reported. A "
    "head has the role in which its margin is largest, over the strongest baseline and over itself at the first "
    "checkpoint, if that is at least the margin of [verdict]; it holds a role that it has at two checkpoints in a "
    "row. Where dependency is scored as well, agreement is no role of a head: its subjects are in nsubj.",
    "effective roles": "How many roles a head has, weighted: exp of the entropy of its positive margins (those of five "
    "points or more) as shares. 1 is a specialist; a head with 3 or more is called a generalist, and narrows if it has "
    "a role and 1.5 or less at the end.",
    "matched heads": "Heads of two models are paired so that their maps of the same sentences are nearest in sum "
    "(optimal assignment on the mean Jensen-Shannon divergence of rows, in nats; at most 0.69). Beside it: the same "
    "where the other model reads other sentences of the same lengths, so that heads can be alike only in what they do "
    "with positions; and random pairs. Maps of untrained models are nearly uniform, and so near to each other whoever "
    "is paired: only numbers of one row can be compared.",
}
"Term -> definition, for the section on head biographies."

"""Attention against effect: whether heads that attend to a relation matter for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from experiments.config.section import GRAMMAR
from experiments.measures.ablation import AblationMeasure
from experiments.measures.importance import ImportanceMeasure
from experiments.measures.patching import PatchingMeasure
from experiments.measures.transfer import TransferMeasure
from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, Charts, Fold, Paragraph, TableBlock, Terms
from reports.formats import MISSING, cost, decimal, names, percent, signed_percent
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.scores.effects import deciding, highest
from reports.scores.verdicts import Verdicts
from reports.tables.cells import Cell, columns_of
from reports.tables.effects import ALL_PLACES, ATTENTION_VERDICTS
from reports.tables.shared_columns import (
    BEHAVIOUR,
    CORRELATIONS,
    FRACTIONS,
    NOT_NEGATIVE,
    ONE_HEAD,
    P_ADJUSTED,
    QUESTION,
    N,
    correlation,
    difference,
    ends,
    flag,
    fraction,
    number,
    run_table,
    text,
    whole,
)
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.run.context import RunContext
    from probes.causal.behaviours import Behaviour
    from reports.drawing.charts import Chart

_ROLE: Final = (BEHAVIOUR, *QUESTION)
_KEY: Final = tuple(column.name for column in _ROLE)

HEADS_COMPARED: Final = run_table(
    "One row for each behaviour, label, direction and head of the report split.",
    (*_KEY, "layer", "head"),
    (
        *_ROLE,
        *ONE_HEAD,
        N,
        fraction("accuracy", "Share of scored words whose most attended candidate is correct."),
        number("mass", "Mean attention to correct words.", FRACTIONS, write=percent),
        difference("margin", "Accuracy minus that of the strongest baseline or control."),
        number(
            "write_norm",
            "Mean length of the vector that the head writes; comparable within a layer.",
            NOT_NEGATIVE,
            write=decimal,
        ),
        number(
            "importance",
            "Mean |d value / d gate|, in the behaviour's unit; missing where it was not measured.",
            NOT_NEGATIVE,
            write=cost,
        ),
        number(
            "patching",
            "Share of the answer that patching the head restores; missing where it was not measured.",
            write=signed_percent,
        ),
        number(
            "transfer",
            "Margin with the head's output of a sentence with the same answer, less that with one of the other answer, "
            "in nats; missing where it was not measured, as without a masked-LM head or pairs of agreement.",
            interval="transfer",
            write=cost,
        ),
        *ends("transfer", "the transfer", cost),
        flag("transfer_significant", "Whether the head transfers the answer (table transfer); no where not measured."),
        number("cost", "What the behaviour loses without the head, in its unit; of labels logits.", None, "cost", cost),
        *ends("cost", "the cost", cost),
        replace(P_ADJUSTED, meaning="p of the cost, corrected for all heads; missing where nothing was tested."),
        flag(
            "attends",
            "Whether it has a grade in a label of the role's probe, in this direction (of position in this label).",
        ),
        flag("has_effect", "Whether the head has a causal effect: its cost is significantly above 0."),
        text("verdict", "Verdict of attention and ablation together.", ATTENTION_VERDICTS),
    ),
)

CORRELATIONS_OF_HEADS: Final = run_table(
    "One row for each behaviour, label, direction and pair of measures, over all heads.",
    (*_KEY, "one", "other"),
    (
        *_ROLE,
        text("one", "First measure, a column of attention_vs_effect."),
        text("other", "Second measure, a column of attention_vs_effect."),
        whole("heads", "Number of heads."),
        correlation("rho", "Spearman's rank correlation of both over heads; missing where one is constant.", ""),
        *ends("", "rho", decimal, CORRELATIONS),
    ),
)

BOTH, ATTENDS, EFFECT, NEITHER, UNKNOWN = ATTENTION_VERDICTS

MEASURES: Final[Mapping[str, str]] = {
    "accuracy": "accuracy in the role",
    "mass": "attention to the correct word",
    "write_norm": "write norm",
    "importance": "gradient importance",
    "patching": "restored by patching",
    "transfer": "transfer",
    "cost": "cost of ablation",
}
"Column -> what a page calls it."

COMPARED: Final = (
    ("accuracy", "cost"),
    ("mass", "cost"),
    ("write_norm", "cost"),
    ("importance", "cost"),
    ("patching", "cost"),
    ("transfer", "cost"),
    ("accuracy", "importance"),
)
"The pairs of measures whose correlation is told; the table in the run folder has all."

SHOWN: Final = 12
"Heads that a table has of a role at the most: those that look first, then those that matter, then the costliest."

TERMS: Final = {
    "Attends": "The head has a grade in a label of the role's probe, in this direction; of position in this label.",
    "Effect": "Without the head (ablated in the first way that [ablation] names) the behaviour is significantly worse: "
    "p of a paired test by cluster, corrected over all heads, below alpha of [verdict]. A sentence embedding moves "
    "whichever head is ablated: there the cost is significantly above that of the median head. Heads without which the "
    "behaviour is better have no effect in this sense.",
    "Cost": "What the behaviour loses without the head, in its own unit: nats per masked word piece for the loss, nats "
    "between the correct and the incorrect sentence for minimal pairs, cosine for the embedding of a sentence.",
    "Transfer": "The log-odds of the correct verb form, in nats, with the head’s output at the verb of another "
    "sentence with the same answer, less those with that of a sentence with the other answer. A head can attend and "
    "have an effect, and its output still serve its own sentence alone (arXiv 2606.08292). Only pairs of agreement and "
    "models with a masked-LM head have it, where [transfer] names the behaviour.",
    "Correlation": "Spearman's rho over the heads of the model, with an interval over resamples of heads. Heads that "
    "attend need not have an effect, and heads with an effect need not attend: the correlation measures how often they "
    "are the same.",
}
HEADS: Final = HEADS_COMPARED.text_columns(
    HEADS_COMPARED["name"].shown("Head", "row"),
    *("verdict", "accuracy", HEADS_COMPARED["margin"].shown(unit=False), "write_norm", "importance", "patching"),
    HEADS_COMPARED["transfer"].shown(),
    HEADS_COMPARED["transfer"].shown_interval(),
    HEADS_COMPARED["transfer_significant"].shown("Transfers"),
    HEADS_COMPARED["cost"].shown(css="strong"),
    HEADS_COMPARED["cost"].shown_interval(),
    "p_adjusted",
)
"Of the table of a role’s heads."


PLACE: Final = ["layer", "head"]
ROLE: Final = [*_KEY]


class AttentionVsEffectMeasure(Measure):
    """What heads attend to, compared with what each behaviour of [ablation] loses without them."""

    name = "attention_vs_effect"
    title = "Attention and causal effect"
    place = 160
    tables = {"attention_vs_effect": HEADS_COMPARED, "attention_vs_effect_correlations": CORRELATIONS_OF_HEADS}
    needs = (AblationMeasure, ImportanceMeasure, PatchingMeasure, TransferMeasure)
    methods = (
        Method(
            "What heads attend to was compared with what a behaviour loses without them, by Spearman’s correlation "
            "over heads.",
            section="ablation",
        ),
    )

    def wanted(self, run: RunContext) -> bool:
        """Return whether heads are ablated to see what behaviours lose."""
        return bool(AblationMeasure.of(run.config).behaviours)

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the heads of each role; nothing where no behaviour belongs to a role that was scored."""
        from experiments.run.behaviours import Behaviours
        from probes.causal.attention_vs_effect import ROLES, attention_vs_effect, rank_correlations, task_roles

        asked, scores = AblationMeasure.of(run.config), run.verdicts(read.frames)
        opened = Behaviours.of(run, asked.behaviours, asked.items)
        own = tuple(one.name for one in opened.rows.values())
        roles = [*ROLES, *(task_roles(scores, asked.labels, own) if own else ())]
        wanted = {name for role in roles if role.probe in set(scores["probe"]) for name in role.behaviours}
        beside = {one.name: _beside(run, one, read) for one in opened if one.name in wanted}
        costs = _costs(read.of(AblationMeasure)["ablations"], asked.ways[0])
        compared = attention_vs_effect(scores, costs, beside, roles=roles, alpha=run.config.verdict.alpha)
        if compared.empty:
            return {}
        rho = rank_correlations(compared, replicates=run.config.scoring.replicates, seed=run.config.seed)
        return {"attention_vs_effect": compared, **({"attention_vs_effect_correlations": rho} if len(rho) else {})}

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield how many heads do what, the heads of each role, and how alike measures order them."""
        compared = run.last("attention_vs_effect")
        roles = {tuple(map(str, role)): rows for role, rows in compared.groupby(ROLE, sort=False)}
        yield Paragraph(_summary(compared))
        yield Terms(TERMS.items())
        yield TableBlock(_verdicts(roles))
        yield from _correlations(run.last("attention_vs_effect_correlations"), roles)
        yield Charts([_chart(role, rows) for role, rows in roles.items()])
        for role, rows in roles.items():
            yield Fold(f"{_named(role)}, and {role[0]}", [TableBlock(_heads(rows))])

    @classmethod
    def effects(cls, run: RunFolder, verdicts: Verdicts) -> Iterator[str]:
        """Yield how many heads of all roles attend and have an effect."""
        yield _summary(run.last("attention_vs_effect"))


def _costs(ablated: pd.DataFrame, way: str) -> dict[str, pd.DataFrame]:
    single = ablated[(ablated["kind"] == "head") & (ablated["way"] == way)].groupby("behaviour", sort=False)
    columns = {"ci_low": "cost_low", "ci_high": "cost_high"}
    kept = [*PLACE, "cost", "ci_low", "ci_high", "p_adjusted"]
    return {str(name): deciding(rows)[kept].rename(columns=columns) for name, rows in single}


def _beside(run: RunContext, behaviour: Behaviour, read: Read) -> dict[str, pd.Series]:
    """Return what else was measured of the heads for a behaviour, by layer and head."""
    from mha.hooks import HookError
    from probes.causal.attention_vs_effect import write_norms

    found: dict[str, pd.Series] = {}
    try:
        found["write_norm"] = write_norms(behaviour)
    except HookError as error:
        run.note(f"write norms: {error}")
    for kind, table, columns in (
        (ImportanceMeasure, "importance", {"importance": "importance"}),
        (PatchingMeasure, "patching", {"share": "patching"}),
        (TransferMeasure, "transfer", TRANSFERRED),
    ):
        rows = read.of(kind).get(table, pd.DataFrame({"behaviour": []}))
        whole = rows[rows["role"] == ALL_PLACES].assign(behaviour=GRAMMAR) if "role" in rows else rows
        own = whole[whole["behaviour"] == behaviour.name]
        found |= {mine: own.set_index(PLACE)[name] for name, mine in columns.items() if len(own)}
    return found


TRANSFERRED: Final = {name: name for name in ("transfer", "transfer_low", "transfer_high")} | {
    "transfers": "transfer_significant"
}
"Column of the table of transfer -> what it is called here."


def _named(role: Sequence[str]) -> str:
    return f"{role[1]}, {role[2]} ({role[3]})"


def _summary(compared: pd.DataFrame) -> str:
    both, attends, hurts = (int((compared["verdict"] == one).sum()) for one in (BOTH, ATTENDS, EFFECT))
    roles = compared.groupby(ROLE).ngroups
    return (
        f"Over {roles} role{'s' * (roles > 1)} (a label and direction with its behaviour; a head counts once for each) "
        f"heads attend in {both + attends} head–role pairs; in {both} of these ablating the head has a significant "
        f"effect. In {hurts} pair{'s' * (hurts != 1)} it has one although the head does not attend."
    )


def _verdicts(roles: Mapping[tuple[str, ...], pd.DataFrame]) -> TextTable:
    told = []
    for role, rows in roles.items():
        heads = {verdict: of["name"].tolist() for verdict, of in highest(rows).groupby("verdict")}
        neither, unknown = (len(heads.get(one, ())) for one in (NEITHER, UNKNOWN))
        named = [names(heads.get(one, ()), 6) for one in (BOTH, ATTENDS, EFFECT)]
        told.append((_named(role), role[0], *named, f"{neither}" + f", and {unknown} not known" * bool(unknown)))
    texts = ("Behaviour", "Attends, with effect", "Attends, no effect", "Effect without attention", "Neither")
    title = "Heads that attend and heads with an effect, the costliest first"
    return TextTable.of(title, columns_of(("Role", *texts), texts), told)


def _correlations(found: pd.DataFrame, roles: Mapping[tuple[str, ...], pd.DataFrame]) -> Iterator[TableBlock]:
    known = {tuple(row[name] for name in (*ROLE, "one", "other")): row for row in found.to_dict("records")}
    pairs = [pair for pair in COMPARED if any((*role, *pair) in known for role in roles)]
    if pairs:
        titles = [f"{MEASURES[one]} and {MEASURES[other]}".capitalize() for one, other in pairs]
        told = [(_named(role), *(_rho(known.get((*role, *pair))) for pair in pairs)) for role in roles]
        title = "Agreement of measures on the order of heads, Spearman’s rho with its 95 % interval"
        yield TableBlock(TextTable.of(title, columns_of(("Role", *titles)), told))


def _rho(row: Mapping[Any, Any] | None) -> str | Cell:
    if row is None:
        return MISSING
    known = row["low"] == row["low"]
    return Cell(decimal(row["rho"]), f"[{decimal(row['low'])}, {decimal(row['high'])}]" if known else "")


def _heads(rows: pd.DataFrame) -> TextTable:
    rank = rows["verdict"].map({BOTH: 0, ATTENDS: 1, EFFECT: 2}).fillna(3)
    heads = highest(rows).assign(rank=rank).sort_values("rank", kind="stable").head(SHOWN).to_dict("records")
    return TextTable.of("Heads that attend, then those with an effect, then those that cost most", HEADS, heads)


def _chart(role: Sequence[str], rows: pd.DataFrame) -> Chart:
    import altair as alt

    from reports.drawing.charts import COLOURS, Chart, legend, over

    told = [
        {
            "accuracy": 100 * row["accuracy"],
            "cost": row["cost"],
            "verdict": row["verdict"],
            "text": f"Head {row['name']}: accuracy {percent(row['accuracy'])} %, cost {cost(row['cost'])}",
        }
        for row in rows.dropna(subset=["accuracy", "cost"]).to_dict("records")
    ]
    shown = [COLOURS[0], COLOURS[1], "var(--ink)", "#808890", "#808890"]
    colours = alt.Scale(domain=list(ATTENTION_VERDICTS), range=shown)
    drawn = over(told).encode(
        alt.X("accuracy:Q", title="accuracy in the role, %"),
        alt.Y("cost:Q", title="cost"),
        alt.Color("verdict:N", legend=legend(ATTENTION_VERDICTS, "circle"), scale=colours),
        tooltip="text:N",
    )
    text = (
        "A dot a head: its accuracy in the role and what the behaviour loses without it; attention_vs_effect.csv has "
        "the numbers."
    )
    return Chart(f"{_named(role)}, and {role[0]}", text, drawn.mark_circle(size=40).properties(height=180))

"""Kovaleva, Romanov, Rogers and Rumshisky 2019: the kinds of maps that BERT has, and what fine-tuning makes of them."""

from __future__ import annotations

from functools import partial

from experiments.statements.estimates import exact, mean_of
from experiments.statements.finding import Evidence, Finding, Measured, Paper, Published, Statement
from experiments.statements.numbers import average, by_depth, minus, rows, shape, table
from experiments.statements.rule import LearnedRule, Rule
from reports.statements.figure import Figure

PAPER = Paper("kovaleva-2019", "Kovaleva, Romanov, Rogers and Rumshisky 2019", "Revealing the Dark Secrets of BERT")

MODEL = "BERT base, uncased, fine-tuned on seven tasks of GLUE"

STANDS_IN = "UD English EWT, sentences of dev; the model as it is."

CLASSES = ("vertical", "diagonal", "vertical + diagonal", "block", "heterogeneous")

HALVES = (0.0, 0.5), (0.5, 1.0)

FLAT = 0.02
"Two points: what maps that are the same in all layers do not differ by."

FELT, ALPHA = 0.01, 0.05
"Nats that must be won where a head or a layer is off, and the corrected p that they must reach."


def _class_bars(evidence: Evidence) -> Figure:
    by_kind = {kind: shape(evidence["trees"], "class", kind).groupby("layer").value.mean() for kind in CLASSES}
    series = {kind: list(enumerate(map(float, layers))) for kind, layers in by_kind.items()}
    names = [str(layer + 1) for layer in range(len(series[CLASSES[0]]))]
    return Figure("bars", "Classes of maps by layer", "layer", "share of maps", series=series, names=names)


def _specials(name: str, earlier: bool, evidence: Evidence) -> Measured:
    """Return how much more one half of the layers attends to a token than the other."""
    heads = shape(evidence["trees"], "attention", name)
    first, last = (average(by_depth(heads, *half)) for half in HALVES)
    told = f"{first.value:.3f} in the first half, {last.value:.3f} in the last"
    return Measured(minus(first, last) if earlier else minus(last, first), note=told)


def _disabled(kind: str, evidence: Evidence) -> Measured:
    """Return how many heads, or how many layers, the model does significantly better without."""
    table(evidence, "disabling", "ablations", "no head was ablated")
    asked = rows(evidence["disabling"].tables["ablations"], kind=kind, way="uniform", measure="value")
    helped = asked[(asked.p_adjusted < ALPHA) & (asked.cost < -FELT)].sort_values("cost")
    told = ", ".join(f"{name} {-cost:.3f}" for name, cost in zip(helped.name, helped.cost, strict=True))
    return Measured(exact(len(helped)), heads=", ".join(helped.name), note=f"nats won: {told}" if told else "")


finding = partial(Finding, model=MODEL)

tested = partial(finding, stands_in=STANDS_IN, readings=("trees",))

TUNED, RANDOM_START = "fine-tuned", "fine-tuned-fresh"

TUNED_ON = (
    "MiniLM (6 layers of 12 heads), trained further on verbs of UD English EWT: the number of each is to be told "
    "from the words before it. The answer is predicted at a mask before these words. 200 steps of 16 rows of 64 pieces."
)


def _less_alike(place: int, evidence: Evidence) -> Measured:
    """Return how far the cosine of a layer, counted from the end, is below the mean of those before the last two."""
    drift = table(evidence, TUNED, "drift", "the run compared no maps before and after")
    cosines = drift.groupby(["text", "layer"]).cosine.mean().unstack()
    before, here = cosines.iloc[:, :-2].mean(axis=1), cosines.iloc[:, place]
    return Measured(mean_of(list(before - here)), ours=mean_of(list(here)), baseline=float(before.mean()))


def _tuned_drawn(evidence: Evidence) -> Figure:
    """Draw the cosine of each head, layer by layer from the last, as the paper's matrices do."""
    cells = table(evidence, TUNED, "drift").groupby(["layer", "head"]).cosine.mean().unstack().iloc[::-1]
    matrix, rows = [list(map(float, row)) for row in cells.to_numpy()], [str(layer + 1) for layer in cells.index]
    title = "Cosine of the maps of each head before and after fine-tuning"
    return Figure("matrix", title, "head", "layer", matrix=matrix, rows=rows)


def _worth(evidence: Evidence) -> Measured:
    """Return by how much more often the model is right that began with learned weights, question by question."""
    why = "the runs asked for no answers"
    answers = [table(evidence, reading, "answers", why).set_index("text") for reading in (TUNED, RANDOM_START)]
    tuned, fresh = ((one.log_odds > 0).astype(float) for one in answers)
    often = float(answers[0].answer.value_counts(normalize=True).max())
    note = f"{len(tuned)} held-out questions; the more frequent answer alone is right in {100 * often:.1f} %"
    return Measured(mean_of(list(tuned - fresh)), ours=mean_of(list(tuned)), baseline=float(fresh.mean()), note=note)


tuned = partial(Finding, model="BERT base, uncased, fine-tuned on tasks of GLUE")


FINDINGS = (
    tested(
        id="kovaleva-classes",
        claim="Maps are of five classes; a third to three fifths of them are heterogeneous, and many are vertical.",
        where="section 4.1",
        data="GLUE; about 400 maps labelled by hand, by which a network with an F1 of 0.86 told all others",
        metric="Share of maps of a class. We tell classes by rules (`probes.maps.classes`), not by a network.",
        differs="Single sentences of one segment; the model is not fine-tuned; maps of fewer than 8 pieces are left "
        "out.",
        statements=[
            Statement(
                name="heterogeneous",
                text="The share of heterogeneous maps lies in the range of the paper's tasks.",
                number="share of the maps",
                rule=LearnedRule(above=0.32, below=0.61, unit="%"),
                published=Published(text="32 % (MRPC) to 61 % (QQP)"),
            ),
            Statement(
                name="vertical",
                text="The share of vertical maps is between half of the paper's and twice it.",
                number="share of the maps",
                rule=LearnedRule(above=0.15, below=0.6, unit="%"),
                published=Published(0.30, text="of the maps that were labelled by hand"),
            ),
        ],
        measure=lambda evidence: {
            kind: Measured(average(shape(evidence["trees"], "class", kind))) for kind in ("heterogeneous", "vertical")
        },
        weaker="of vertical maps the paper has a share of those labelled by hand alone: half of it to twice is taken",
        figure=_class_bars,
    ),
    tested(
        id="kovaleva-special-tokens",
        claim="Attention goes to [CLS] in earlier layers and to [SEP] in later ones.",
        where="on special tokens; the authors of pande-2021 say the same",
        data="GLUE",
        metric="Mean attention to the token over tokens, heads and texts; half of the layers each.",
        differs="Single sentences of one segment with one [SEP]; the model is not fine-tuned.",
        statements=[
            Statement(
                name=name,
                text=f"The {one} half of the layers attends more to {name} than the {other}, by two points at least.",
                number=f"mean attention to {name} in the {one} half of the layers minus that in the {other}",
                rule=LearnedRule(above=FLAT),
                published=Published(text="in all tasks; shown in a figure"),
                measure=partial(_specials, name, one == "first"),
            )
            for name, one, other in (("[CLS]", "first", "last"), ("[SEP]", "last", "first"))
        ],
    ),
    finding(
        id="kovaleva-frames",
        claim="Two heads attend between the words of semantic frames more than 99 % of heads do.",
        where="section 4.2",
        model="BERT base, uncased",
        data="473 sentences of FrameNet",
        metric="Largest attention weight between a word and the core element of its frame, mean over sentences.",
        statements=[
            Statement(
                name="two heads",
                text="The two best heads are above the 99th percentile of all.",
                number="mean of the largest weight",
                rule=LearnedRule(above=0.0),
                published=Published(0.209, text="0.201 and 0.209"),
                shown="",
            )
        ],
        missing="Sentences annotated with semantic frames.",
    ),
    tested(
        id="kovaleva-disabling",
        claim="Some heads, and some whole layers, do harm: tasks are solved better with uniform attention in "
        "their place.",
        where="on disabling heads and layers",
        data="GLUE, a metric of each task, from single runs",
        metric="What a task gains where a head, or all heads of a layer, give all tokens the same attention.",
        stands_in="Minimal pairs of agreement of the embedded grammar, 500 at the most.",
        differs="No task is learned: it is by how many nats the right sentence is preferred. p is corrected for all "
        "heads, or layers; the paper has no test.",
        statements=[
            Statement(
                name=kind,
                text=f"Without the attention of a {kind}, the model is significantly better, by at least 0.01 nats.",
                number=f"{kind}s",
                rule=LearnedRule(above=0.0, unit=f"{kind}s"),
                published=Published(text=said),
                measure=partial(_disabled, kind),
            )
            for kind, said in (
                ("head", "the best single head gains 0.1 points (STS-B) to 1.2 (MRPC)"),
                ("layer", "without layer 1 RTE gains 3.2 points; QNLI and MNLI lose up to 0.2 without a layer"),
            )
        ],
        readings=("disabling",),
    ),
    tuned(
        id="kovaleva-fine-tuning-layers",
        claim="Fine-tuning changes the maps of the last two layers most.",
        where="cosine similarity of maps before and after fine-tuning",
        data="tasks of GLUE",
        metric="Cosine of the flattened maps of a head before and after, mean over sentences and the heads of a layer.",
        stands_in=TUNED_ON + " Maps are compared on 200 sentences of EWT dev.",
        differs="Another and smaller model, which was made for sentence embeddings, and another task.",
        statements=[
            Statement(
                name,
                f"The maps of the {name} stay less alike than those of the layers before the last two.",
                f"mean cosine of the layers before the last two minus that of the {name}, paired by sentence",
                Rule(above=0.0, unit="cosine"),
                published=Published(text="lowest in layers 11 and 12, in all tasks but QQP"),
                measure=partial(_less_alike, place),
            )
            for name, place in (("last layer", -1), ("last but one", -2))
        ],
        readings=(TUNED,),
        weaker="one task and one training are measured, where the paper has six of seven tasks",
        figure=_tuned_drawn,
    ),
    tuned(
        id="kovaleva-fine-tuning-worth",
        claim="Fine-tuning from pre-trained weights does better than from randomly initialised ones.",
        where="table of fine-tuned models",
        data="MRPC and MNLI",
        metric="Accuracy on held-out examples of the task.",
        stands_in=f"{TUNED_ON} Beside it the same training run from randomly initialised weights. Up to 1,000 "
        "held-out questions.",
        differs="Another model and task, and short trainings.",
        statements=[
            Statement(
                "pre-trained",
                "Accuracy from pre-trained weights is above that from randomly initialised weights, by 14 points.",
                "accuracy from pre-trained weights minus accuracy from fresh ones, paired by question",
                Rule(above=0.14),
                weaker=Rule(above=0.0),
                published=Published(
                    0.823,
                    0.683,
                    text="MRPC: accuracy 82.3 against 68.3, and 31.6 without fine-tuning; F1 87.9 against 81.2, and 0; "
                    "MNLI: accuracy 78.6 against 61.0, and 31.7",
                ),
            )
        ],
        readings=(TUNED, RANDOM_START),
        measure=_worth,
    ),
)

"""Answers to the training task: how well a model does it, and what its answers rest on (Abnar and Zuidema 2020)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, Self

import pandas as pd
from pydantic import Field, model_validator

from experiments.config.section import ConfigError
from experiments.run.measure import Frames, Measure, Read
from reports.blocks.block import Block, Paragraph, TableBlock, Terms
from reports.formats import count, decimal, interval, percent
from reports.measures.reported import Method
from reports.run.folder import RunFolder
from reports.tables.cells import columns_of
from reports.tables.shared_columns import LAYER, ONE_HEAD, correlation, number, place, run_table, text, whole
from reports.tables.text_table import TextTable

if TYPE_CHECKING:
    from experiments.config.config import Config
    from experiments.config.train_config import TrainSection
    from experiments.run.context import RunContext
    from probes.causal.behaviours import Prompt

MEASURES: Final = ("weights", "rollout", "flow")
"What is measured of a layer: its attention averaged over heads, rollout up to it, and flow up to it."

AGAINST: Final = ("blank-out", "gradients")
"What they are compared with."

HELD_OUT: Final = "held-out texts"
"The corpus of these tables: what the training did not see."

_TEXT: Final = place("text", "Number of the text, the same in all tables of answers.")
_WORDS: Final = whole("words", "Number of words before the verb.")

ANSWERS: Final = run_table(
    "One row for each text whose verb the model chooses.",
    ("text",),
    (
        _TEXT,
        _WORDS,
        text("answer", "The correct answer."),
        number(
            "log_odds",
            "Log-odds of the correct answer, in nats; above 0 where the model is correct.",
            None,
            write=decimal,
        ),
    ),
)

SINGLE_HEADS: Final = run_table(
    "One row for each text and head: the model with all other heads of the head's layer ablated.",
    ("text", "name"),
    (
        _TEXT,
        *ONE_HEAD,
        number(
            "log_odds", "Log-odds of the correct answer with this head alone in its layer, nats.", None, write=decimal
        ),
    ),
)

FLOWS: Final = run_table(
    "One row for each text, layer, measure of attention and measure of causes, over the words before the verb.",
    ("text", "layer", "measure", "against"),
    (
        _TEXT,
        _WORDS,
        LAYER,
        text("measure", "Measure of attention to the words: mean weights, rollout, or maximum flow.", MEASURES),
        text("against", "What it is compared with: the effect of blanking a word out, or gradients.", AGAINST),
        correlation("rho", "Spearman's rank correlation of both over words; missing where all words are equal in one."),
    ),
)

TERMS: Final = {
    "right": "The share of held-out questions on which the correct one of the two words is the more probable one. The "
    "interval is exact for independent questions (Clopper and Pearson 1934).",
    "one head left": "In one layer all heads but one are ablated, in the others none (Michel et al. 2019). The best "
    "head of a layer is selected on the even-numbered questions and evaluated on the odd ones.",
    "rank correlation": "Spearman’s, over the words of a question: what a layer’s attention, rollout or flow gives to "
    "each word, against how much the answer changes where the word is blanked out, or against the gradient there "
    "(Abnar and Zuidema 2020). Mean over questions; those in which all words are equal are left out.",
}


class AnswersMeasure(Measure):
    """How well a model does that [train] trains to answer in one of two words, and what its answers rest on."""

    name = "answers"
    title = "Answers to the training task"
    place = 170
    switch = "questions"
    tables = {"answers": ANSWERS, "one_head": SINGLE_HEADS, "flows": FLOWS}
    methods = (
        Method(
            "The model was asked {questions} held-out texts of its training at the most, each to be answered in one "
            "of two words.",
            title="Answers",
        ),
        Method(
            "For {texts} of the questions, of {shortest} to {longest} words, attention, rollout and flow from the "
            "answer to the words were compared with blanking each word out and with gradients (Abnar and Zuidema "
            "2020).",
            title="Attention, rollout and flow",
            tables=("flows",),
        ),
        Method(
            "{one_head} of the questions were asked again with one head of a layer left, each in turn (Michel et al. "
            "2019).",
            title="One head a layer",
            tables=("one_head",),
        ),
    )

    questions: int = Field(default=0, ge=0)
    "Held-out texts of the training, at the most, that the model is asked about; 0 for none."
    texts: int = Field(default=200, ge=0)
    "Of these, how many attention, rollout and flow are compared with what their answers rest on; 0 for none."
    one_head: int = Field(default=0, ge=0)
    "Of these, how many the model is asked again with one head of a layer left, each in turn; 0 for none."
    shortest: int = Field(default=4, ge=3)
    "Words, without the answer, of the shortest text for attention flow."
    longest: int = Field(default=20, ge=3)
    "Words of the longest."

    @model_validator(mode="after")
    def _room(self) -> Self:
        if self.shortest > self.longest:
            raise ValueError(f"no text has {self.shortest} words or more and {self.longest} or fewer")
        return self

    def check(self, config: Config) -> None:
        """Refuse a training without two answers."""
        if self.questions and (config.train is None or len(config.train.masking.answers) != 2):
            raise ValueError("[answers] needs a [train] with two masking.answers, one of which every text begins with")

    def measure(self, run: RunContext, read: Read) -> Frames:
        """Return the log-odds of held-out questions, and the rank correlations of some of them."""
        from probes.causal.ablation import measure
        from probes.causal.attribution import as_behaviour, number_prompts

        train = run.config.train
        assert train is not None, "as `check` has it"
        questions = self._held_out(run, train)
        one, other = train.masking.answers
        asked = list(number_prompts(run.lm, questions, (one, other)))
        words = [len(question) - 1 for question in questions]
        found = {"text": range(len(asked)), "words": words, "answer": [question[0] for question in questions]}
        odds = measure(as_behaviour(run.lm, asked), [()])[0].numpy()
        tables = {"answers": pd.DataFrame(found).assign(log_odds=odds)}
        if self.texts:
            tables["flows"] = self._flows(run, questions, asked)
        if self.one_head:
            tables["one_head"] = _one_head(run, asked[: self.one_head])
        return {name: frame.assign(corpus=HELD_OUT) for name, frame in tables.items()}

    def _held_out(self, run: RunContext, train: TrainSection) -> list[list[str]]:
        """Return the first held-out texts of the training as words; leave out, and count, what is too long."""
        from experiments.training.texts import open_material
        from mha import align
        from probes.scoring.aligned import Dropped

        model, dropped, fit = run.model, Dropped(), []
        texts = [text.split() for text in islice(open_material(train).held_out, self.questions)]
        for at, (words, cut) in enumerate(zip(texts, align(model.tokenizer, texts), strict=True)):
            if len(cut) > model.max_pieces:
                dropped.add(f"longer than the model ({model.max_pieces} pieces)", f"held-out text {at}")
            else:
                fit.append(words)
        run.note_dropped("report", "sentence", self.name, dropped)
        return fit

    def _flows(self, run: RunContext, questions: Sequence[Sequence[str]], asked: Sequence[Prompt]) -> pd.DataFrame:
        from probes.causal.attribution import correlations, first_places

        lengths = range(self.shortest, self.longest + 1)
        fits = [at for at in first_places(questions) if len(questions[at]) - 1 in lengths]
        wanted = f"{self.shortest} to {self.longest} words"
        if not fits:
            raise ConfigError(f"answers: none of {len(questions)} held-out texts has {wanted}: raise held_out_share")
        chosen = fits[: self.texts]
        run.note(
            f"answers: of {len(questions)} held-out questions {len(fits)} are new and of {wanted}; "
            f"attention flow was worked out for {len(chosen)}, the first of these"
        )
        step = run.counter("attention flow", len(chosen))
        frames = []
        for at in chosen:
            frames.append(correlations(run.lm, asked[at]).assign(text=at, words=len(questions[at]) - 1))
            step()
        return pd.concat(frames, ignore_index=True)

    @classmethod
    def page(cls, run: RunFolder) -> Iterator[Block]:
        """Yield how many answers are correct, by length and with one head of a layer, and what maps say of them."""
        table, one_head, flows = (run.last(name) for name in cls.tables)
        yield Paragraph(
            f"Of {count(len(table))} held-out questions {_right(table['log_odds'])} are answered correctly."
        )
        columns = columns_of(("Words of the question", "n", "Right"))
        yield TableBlock(TextTable.of("Correct answers by length", columns, _lengths(table)))
        if len(one_head):
            titles = ("Layer", "Best head", "n", "Accuracy with it alone", "Accuracy with all heads")
            rows = _best_alone(one_head, table)
            yield TableBlock(TextTable.of("One head of a layer left", columns_of(titles), rows))
        if len(flows):
            order = pd.MultiIndex.from_product([AGAINST, MEASURES])
            means = flows.pivot_table(index="layer", columns=["against", "measure"], values="rho").reindex(
                columns=order
            )
            columns = columns_of(("Layer", *(f"{measure}, {against}" for against, measure in order)))
            rows = ((f"{layer + 1}", *map(decimal, found)) for layer, *found in means.itertuples())
            title = "Attention, rollout and flow against the answer, mean rank correlation"
            yield TableBlock(TextTable.of(title, columns, rows))
        yield Terms(TERMS.items())


def _one_head(run: RunContext, asked: Sequence[Prompt]) -> pd.DataFrame:
    from probes.causal.ablation import measure
    from probes.causal.attribution import as_behaviour, one_head_left
    from probes.evidence.results import named_heads

    ablated = one_head_left(run.model)
    step = run.counter("one head a layer", len(asked))
    found = measure(as_behaviour(run.lm, asked), list(ablated.values()), step=step).numpy()
    heads = pd.DataFrame(named_heads((run.model.layers, run.model.heads)))
    return heads.merge(pd.DataFrame({"text": range(len(asked))}), how="cross").assign(log_odds=found.ravel())


def _right(log_odds: pd.Series) -> str:
    from scipy.stats import binomtest

    hits, n = int((log_odds > 0).sum()), len(log_odds)
    if not n:
        return ""
    ends = binomtest(hits, n).proportion_ci(0.95)
    return f"{percent(hits / n)} % {interval(ends.low, ends.high)}"


def _lengths(table: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """Yield the share of right answers by quarters of the questions, the short ones first."""
    for _, rows in table.groupby(pd.qcut(table["words"], 4, duplicates="drop"), observed=True):
        least, most = rows["words"].min(), rows["words"].max()
        yield (f"{least}" if least == most else f"{least} to {most}", count(len(rows)), _right(rows["log_odds"]))


def _best_alone(one_head: pd.DataFrame, table: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """Yield for each layer the head that does best alone on even questions, evaluated on the odd ones."""
    intact = table.set_index("text")["log_odds"]
    for layer, rows in one_head.groupby("layer"):
        odd = rows["text"] % 2 == 1
        shares = (rows.loc[~odd, "log_odds"] > 0).groupby(rows.loc[~odd, "name"], sort=False).mean()
        if len(shares):
            best = str(shares.idxmax())
            held = rows[odd & (rows["name"] == best)]
            right = (_right(held["log_odds"]), _right(intact.reindex(held["text"])))
            yield (f"{int(str(layer)) + 1}", best, count(len(held)), *right)
